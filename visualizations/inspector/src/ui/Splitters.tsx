import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';

interface SplittersProps {
  readonly left: ReactNode;
  readonly right: ReactNode;
  readonly top: ReactNode;
  readonly middle: ReactNode;
  readonly bottom: ReactNode;
  /** The top pane takes no more than it needs, and the bottom one the rest. */
  readonly flatTop: boolean;
}

type Edge = 'left' | 'right' | 'middle' | 'bottom';
type Sizes = Readonly<Record<Edge, number>>;
/** Pixels; `middle` and `bottom` are shares of the height in percent, so that a taller window gives to all. */
const LIMITS: Readonly<Record<Edge, { readonly min: number; readonly max: number; readonly name: string }>> = {
  left: { min: 160, max: 480, name: 'Width of the actors' },
  right: { min: 240, max: 720, name: 'Width of the details' },
  middle: { min: 8, max: 50, name: 'Height of the timeline' },
  bottom: { min: 12, max: 70, name: 'Height of the log' },
};
const KEY = 'sixgates.sizes';
const STEP = 16;

function firstSizes(): Sizes {
  const wide = window.innerWidth >= 1600;
  return { left: wide ? 280 : 232, right: wide ? 440 : 340, middle: 17, bottom: 31 };
}

/** The five panes, with edges that can be dragged or moved with arrow keys. Sizes are remembered. */
export function Splitters({ left, right, top, middle, bottom, flatTop }: SplittersProps) {
  const [sizes, setSizes] = useState<Sizes>(() => ({ ...firstSizes(), ...loadSizes() }));
  useEffect(() => {
    try {
      localStorage.setItem(KEY, JSON.stringify(sizes));
    } catch {
      // Sizes then last as long as the page.
    }
  }, [sizes]);
  const set = (edge: Edge, value: number): void =>
    setSizes((now) => ({ ...now, [edge]: Math.max(LIMITS[edge].min, Math.min(LIMITS[edge].max, value)) }));
  const handle = (edge: Edge, grows: 1 | -1 = edge === 'left' ? 1 : -1) => (
    <Handle edge={edge} grows={grows} value={sizes[edge]} onChange={(value) => set(edge, value)} />
  );
  return (
    <div
      className="panes"
      style={{
        gridTemplateColumns: `${sizes.left}px minmax(0, 1fr) ${sizes.right}px`,
        gridTemplateRows: flatTop
          ? `auto minmax(64px, ${sizes.middle}%) minmax(96px, 1fr)`
          : `minmax(160px, 1fr) minmax(64px, ${sizes.middle}%) minmax(96px, ${sizes.bottom}%)`,
      }}
    >
      <div className="pane pane-left">
        {left}
        {handle('left')}
      </div>
      <main className="pane-main">
        <div className="pane pane-top">{top}</div>
        <div className="pane pane-middle">
          {!flatTop && handle('middle')}
          {middle}
        </div>
        <div className="pane pane-bottom">
          {flatTop ? handle('middle', 1) : handle('bottom')}
          {bottom}
        </div>
      </main>
      <div className="pane pane-right">
        {handle('right')}
        {right}
      </div>
    </div>
  );
}

function Handle({
  edge,
  grows,
  value,
  onChange,
}: {
  readonly edge: Edge;
  /** Which way the edge is moved to make its pane larger: 1 is right or down. */
  readonly grows: 1 | -1;
  readonly value: number;
  readonly onChange: (value: number) => void;
}) {
  const vertical = edge === 'left' || edge === 'right';
  const perPixel = (element: Element): number => (vertical ? 1 : 100 / Math.max(1, element.closest('.panes')?.clientHeight ?? 1));
  const key = (event: KeyboardEvent<HTMLDivElement>): void => {
    const by = vertical ? { ArrowLeft: -STEP, ArrowRight: STEP }[event.key] : { ArrowUp: -STEP, ArrowDown: STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onChange(value + by * grows * perPixel(event.currentTarget));
  };
  return (
    <div
      className={`handle ${vertical ? 'vertical' : 'horizontal'} ${edge}`}
      role="separator"
      tabIndex={0}
      aria-orientation={vertical ? 'vertical' : 'horizontal'}
      aria-label={LIMITS[edge].name}
      aria-valuenow={Math.round(value)}
      aria-valuemin={LIMITS[edge].min}
      aria-valuemax={LIMITS[edge].max}
      onKeyDown={key}
      onPointerDown={(event) => {
        event.preventDefault();
        const element = event.currentTarget;
        element.setPointerCapture(event.pointerId);
        const start = vertical ? event.clientX : event.clientY;
        const move = (moved: PointerEvent): void =>
          onChange(value + ((vertical ? moved.clientX : moved.clientY) - start) * grows * perPixel(element));
        const up = (): void => {
          element.removeEventListener('pointermove', move);
          element.removeEventListener('pointerup', up);
        };
        element.addEventListener('pointermove', move);
        element.addEventListener('pointerup', up);
      }}
    />
  );
}

function loadSizes(): Partial<Sizes> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof stored !== 'object' || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter(([key, value]) => key in LIMITS && typeof value === 'number'));
  } catch {
    return {};
  }
}
