import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';

interface RowsProps {
  readonly id: string;
  readonly label: string;
  readonly role: 'grid' | 'tree' | 'listbox';
  readonly count: number;
  readonly rowHeight: number;
  /** Position of the row that keys act on; -1 for none. */
  readonly current: number;
  readonly onMove: (index: number) => void;
  readonly onOpen?: (index: number) => void;
  readonly onKey?: (event: KeyboardEvent) => void;
  readonly row: (index: number) => ReactNode;
  /** Stands above the rows and does not scroll away. */
  readonly head?: ReactNode;
  /** Rows are added at the end; whoever has scrolled to the end stays there. */
  readonly tail?: boolean;
  /** Changes when the list shows something else: the saved place of that key is restored. */
  readonly place?: string;
  readonly className?: string;
  readonly columns?: number;
}

/** Rows drawn beyond the edges, so that a quick scroll does not outrun them. */
const OVERSCAN = 8;

/** A list of which only the rows in view exist in the DOM. One tab stop; arrows move within. */
export function Rows(props: RowsProps) {
  const { id, label, role, count, rowHeight, current, onMove, onOpen, onKey, row, head, tail = false, place = '', className = '' } = props;
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const atEnd = useRef(tail);
  const places = useRef(new Map<string, { readonly top: number; readonly current: number }>());
  const shown = useRef({ place, current });
  const moved = useRef(current);
  // All rows are of one height, so that none is ever measured.
  const virtualizer = useVirtualizer({ count, getScrollElement: () => element, estimateSize: () => rowHeight, overscan: OVERSCAN });

  // Leaving a filter brings back the place one came from, unless another row was chosen meanwhile.
  useEffect(() => {
    const before = shown.current;
    if (!element || before.place === place) {
      shown.current = { place, current };
      if (element) places.current.set(place, { top: element.scrollTop, current });
      return;
    }
    shown.current = { place, current };
    moved.current = current;
    const saved = places.current.get(place);
    element.scrollTop = saved?.top ?? 0;
    atEnd.current = tail && element.scrollHeight - element.scrollTop - element.clientHeight < rowHeight;
    if (current >= 0 && saved?.current !== current) reveal(element, current, rowHeight);
  }, [element, place, current, tail, rowHeight]);

  useEffect(() => {
    if (tail && atEnd.current && count > 0 && element) element.scrollTop = element.scrollHeight;
  }, [element, count, tail]);

  useEffect(() => {
    if (moved.current === current) return;
    moved.current = current;
    if (current >= 0 && element) reveal(element, current, rowHeight);
  }, [element, current, rowHeight]);

  const keys = (event: KeyboardEvent<HTMLDivElement>): void => {
    onKey?.(event);
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
    const page = Math.max(1, Math.floor((element?.clientHeight ?? 0) / rowHeight) - 1);
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page, Home: 0, End: count - 1 }[
      event.key
    ];
    if (to !== undefined && count > 0) {
      event.preventDefault();
      onMove(Math.max(0, Math.min(count - 1, to)));
    } else if ((event.key === 'Enter' || event.key === ' ') && current >= 0 && onOpen) {
      event.preventDefault();
      onOpen(current);
    }
  };

  return (
    <div className={`rows ${className}`}>
      {head}
      <div
        ref={setElement}
        id={id}
        className="rows-scroll"
        role={role}
        aria-label={label}
        tabIndex={0}
        {...(role === 'grid' ? { 'aria-rowcount': count, 'aria-colcount': props.columns } : {})}
        {...(current >= 0 ? { 'aria-activedescendant': `${id}-${current}` } : {})}
        onKeyDown={keys}
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          atEnd.current = scrollHeight - scrollTop - clientHeight < rowHeight;
          places.current.set(shown.current.place, { top: scrollTop, current: shown.current.current });
        }}
      >
        <div className="rows-all" role="presentation" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ key, index, start }) => (
            <div key={key} className="rows-at" role="presentation" style={{ transform: `translateY(${start}px)`, height: rowHeight }}>
              {row(index)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Scrolls no further than needed to have a row in view. */
function reveal(element: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight;
}
