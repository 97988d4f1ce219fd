import { useEffect, useMemo, useState } from 'react';
import type { BodyRef } from '../../../../src/inspect/protocol/flowEvents.js';
import { type JsonRow, jsonRows, parseJson } from '../model/json.js';
import { Lines } from '../model/lines.js';
import { plural, size } from '../ui/format.js';
import { useBodiesVersion, useInspector } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { Rows } from '../ui/Rows.js';
import { Visible } from '../ui/visible.js';
import { TextDiff } from './TextDiff.js';

/** Larger bodies are shown as text, because building their tree would block the page. */
const TREE_CHARS = 4 * 1024 * 1024;
const ROW = 19;
const MOST_ROWS_HIGH = 28;

/** A body, fetched when it is looked at. */
export function BodyView({ body, label }: { readonly body: BodyRef; readonly label: string }) {
  const { bodies } = useInspector();
  useBodiesVersion();
  const state = bodies.get(body);
  switch (state.kind) {
    case 'loading':
      return (
        <p className="empty" role="status">
          Loading {size(body.bytes)}
          {state.loaded > 0 ? `, ${Math.round((state.loaded / Math.max(1, state.total)) * 100)} %` : ''}…
        </p>
      );
    case 'missing':
      return (
        <div className="body-missing">
          <p className="quiet">{state.message}</p>
          <pre className="mono wrap">
            <Visible text={body.preview} />
          </pre>
        </div>
      );
    case 'head':
      return (
        <>
          <p className="body-note">
            The first {size(state.text.length)} of {size(body.bytes)}.{' '}
            <button type="button" className="link" onClick={() => bodies.loadAll(body)}>
              Load all
            </button>
          </p>
          <TextLines text={state.text} label={label} />
        </>
      );
    case 'text':
      return <Loaded text={state.text} body={body} label={label} />;
  }
}

function Loaded({ text, body, label }: { readonly text: string; readonly body: BodyRef; readonly label: string }) {
  const value = useMemo(() => (text.length <= TREE_CHARS ? parseJson(text) : undefined), [text]);
  const note = body.clipped ? `${size(body.bytes)}, parts were left out when it was recorded` : size(body.bytes);
  return (
    <>
      <p className="body-note">{note}</p>
      {value === undefined ? <TextLines text={text} label={label} /> : <JsonValueView value={value} label={label} />}
    </>
  );
}

/** JSON as a tree; a lone string as text; an edit as a diff. */
export function JsonValueView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const edit = editOf(value);
  if (typeof value === 'string') return <TextLines text={value} label={label} />;
  return (
    <>
      {edit && <TextDiff before={edit.before} after={edit.after} />}
      <JsonTree value={value} label={label} />
    </>
  );
}

/** An input that replaces one text by another reads best as the difference. */
function editOf(value: unknown): { readonly before: string; readonly after: string } | null {
  if (typeof value !== 'object' || value === null || !('old_string' in value) || !('new_string' in value)) return null;
  const { old_string: before, new_string: after } = value;
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null;
}

/** Characters walked at a time; a quarter of a second's work on a slow machine would be felt, this is not. */
const CHARS_AT_ONCE = 1 << 20;

/** Text of any length as virtual lines. */
function TextLines({ text, label }: { readonly text: string; readonly label: string }) {
  const lines = useLines(text);
  const [current, setCurrent] = useState(-1);
  return (
    <div className="text-lines" style={{ height: Math.min(lines.count, MOST_ROWS_HIGH) * ROW + 10 }}>
      <Rows
        id={`text-${label}`}
        label={`${label}, ${plural(lines.count, 'line')}`}
        role="listbox"
        count={lines.count}
        rowHeight={ROW}
        current={current}
        onMove={setCurrent}
        row={(index) => (
          <div className="text-line" id={`text-${label}-${index}`} role="option" aria-selected={index === current}>
            <Visible text={lines.line(index)} />
          </div>
        )}
      />
    </div>
  );
}

/** The lines of a text; of a long one the first at once, and more with every task until all are there. */
function useLines(text: string): Lines {
  const lines = useMemo(() => {
    const made = new Lines(text);
    made.read(CHARS_AT_ONCE);
    return made;
  }, [text]);
  const [, grow] = useState(0);
  useEffect(() => {
    if (lines.isRead) return;
    let timer = setTimeout(function more() {
      if (lines.read(CHARS_AT_ONCE)) timer = setTimeout(more, 0);
      grow(lines.count);
    }, 0);
    return () => clearTimeout(timer);
  }, [lines]);
  return lines;
}

/** A JSON value as a virtual tree. */
export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [current, setCurrent] = useState(-1);
  const rows = useMemo(() => jsonRows(value, toggled), [value, toggled]);
  const toggle = (row: JsonRow): void => {
    if (row.entries > 0) setToggled(new Map(toggled).set(row.path, !row.open));
  };
  return (
    <div className="json" style={{ height: Math.min(rows.length, MOST_ROWS_HIGH) * ROW + 10 }}>
      <Rows
        id={`json-${label}`}
        label={label}
        role="tree"
        count={rows.length}
        rowHeight={ROW}
        current={current}
        onMove={setCurrent}
        onOpen={(index) => {
          const row = rows[index];
          if (row) toggle(row);
        }}
        onKey={(event) => {
          const row = rows[current];
          if (!row || event.shiftKey || (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft')) return;
          event.preventDefault();
          event.stopPropagation();
          if (row.open !== (event.key === 'ArrowRight')) toggle(row);
        }}
        row={(index) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              id={`json-${label}-${index}`}
              className={`json-row${index === current ? ' current' : ''}`}
              role="treeitem"
              aria-level={row.depth + 1}
              aria-selected={index === current}
              {...(row.entries > 0 ? { 'aria-expanded': row.open } : {})}
              style={{ paddingLeft: 4 + Math.min(row.depth, 14) * 12 }}
              onClick={() => {
                setCurrent(index);
                toggle(row);
              }}
            >
              <span className={`twist${row.open ? ' open' : ''}`}>{row.entries > 0 && <Icon name="chevron" size={10} />}</span>
              {row.key !== null && (
                <>
                  <span className="key">
                    <Visible text={row.key} />
                  </span>
                  <span className="quiet">: </span>
                </>
              )}
              <JsonLeaf value={row.value} entries={row.entries} open={row.open} root={row.key === null} />
            </div>
          );
        }}
      />
    </div>
  );
}

const STRING_CHARS = 300;

function JsonLeaf(props: { readonly value: unknown; readonly entries: number; readonly open: boolean; readonly root: boolean }) {
  const { value, entries, open, root } = props;
  if (entries >= 0) {
    const isList = Array.isArray(value);
    if (entries === 0) return <span className="quiet">{isList ? '[]' : '{}'}</span>;
    return (
      <span className="quiet">{open && !root ? '' : isList ? `[ ${plural(entries, 'item')} ]` : `{ ${plural(entries, 'key')} }`}</span>
    );
  }
  if (typeof value === 'string') {
    const shown = value.length > STRING_CHARS ? `${value.slice(0, STRING_CHARS)}…` : value;
    return (
      <span className="string" title={value.length > 40 ? value.slice(0, 2000) : undefined}>
        "<Visible text={shown.replaceAll('\n', '↵')} />"
        {value.length > STRING_CHARS && <span className="quiet"> {size(value.length)}</span>}
      </span>
    );
  }
  return <span className={value === null || value === undefined ? 'quiet' : 'atom'}>{String(value)}</span>;
}
