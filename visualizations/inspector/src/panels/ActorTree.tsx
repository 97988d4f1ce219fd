import { useRef, useState } from 'react';
import { selectActor } from '../model/actions.js';
import type { Actor } from '../model/actors.js';
import { actorTitle, type TreeRow, treeRows } from '../model/tree.js';
import { count, plural, statePath } from '../ui/format.js';
import { useFlowVersion, useInspector, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { Rows } from '../ui/Rows.js';
import { Visible } from '../ui/visible.js';

/** Session › query › turn › executor › calls. What has ended folds away; what waits or failed shows on everything above it. */
export function ActorTree() {
  const inspector = useInspector();
  const view = useView();
  const version = useFlowVersion();
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [filter, setFilter] = useState('');
  const cache = useRef<{ key: unknown[]; rows: readonly TreeRow[] }>({ key: [], rows: [] });

  const key = [version, toggled, view.actor, view.showHelpers, view.travel, filter];
  if (key.some((part, index) => part !== cache.current.key[index])) {
    const options = { toggled, selected: view.actor, showHelpers: view.showHelpers, seq: view.travel, filter };
    cache.current = { key, rows: treeRows(inspector.flow, options) };
  }
  const { rows } = cache.current;
  const current = rows.findIndex((row) => row.kind === 'actor' && row.actor.id === view.actor);
  const [foldAt, setFoldAt] = useState<string | null>(null);
  const cursor = foldAt === null ? current : rows.findIndex((row) => row.kind === 'fold' && row.key === foldAt);

  const toggle = (row: TreeRow, open: boolean): void =>
    setToggled(new Map(toggled).set(row.kind === 'fold' ? row.key : row.actor.id, open));
  const move = (index: number): void => {
    const row = rows[index];
    if (!row) return;
    if (row.kind === 'fold') setFoldAt(row.key);
    else {
      setFoldAt(null);
      selectActor(inspector, row.actor.id);
    }
  };

  return (
    <nav className="panel actors" aria-label="Actors">
      <div className="panel-head">
        <h2>Actors</h2>
        <span className="quiet num">{count(inspector.flow.actors.size)}</span>
        <span className="grow" />
        <button
          type="button"
          className="tool"
          aria-pressed={view.follow}
          title="Select what is going on"
          aria-label="Selection follows what is going on"
          onClick={() => inspector.view.patch({ follow: !view.follow })}
        >
          <Icon name="target" />
        </button>
        <button
          type="button"
          className="tool"
          aria-pressed={view.showHelpers}
          title="Show promises and streams too"
          aria-label="Show promises and streams too"
          onClick={() => inspector.view.patch({ showHelpers: !view.showHelpers })}
        >
          <Icon name="more" />
        </button>
      </div>
      <label className="find">
        <Icon name="search" size={12} />
        <input
          type="search"
          placeholder="Find an actor"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          aria-label="Find an actor"
        />
      </label>
      <Rows
        id="actors"
        label="Actors"
        role="tree"
        count={rows.length}
        rowHeight={24}
        current={cursor}
        onMove={move}
        onOpen={(index) => {
          const row = rows[index];
          if (row) toggle(row, !row.expanded);
        }}
        onKey={(event) => {
          const row = rows[cursor];
          if (!row || (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') || event.shiftKey) return;
          event.preventDefault();
          event.stopPropagation();
          const open = event.key === 'ArrowRight';
          const canToggle = row.kind === 'fold' || row.hasChildren;
          if (canToggle && row.expanded !== open) toggle(row, open);
          else if (open) move(cursor + 1);
          else {
            const up = rows.slice(0, cursor).findLastIndex((other) => other.depth < row.depth);
            if (up >= 0) move(up);
          }
        }}
        row={(index) => {
          const row = rows[index];
          if (!row) return null;
          return row.kind === 'fold' ? (
            <FoldRow row={row} id={`actors-${index}`} current={index === cursor} onToggle={() => toggle(row, !row.expanded)} />
          ) : (
            <ActorRow
              row={row}
              id={`actors-${index}`}
              selected={row.actor.id === view.actor}
              travel={view.travel}
              onSelect={() => move(index)}
              onToggle={() => toggle(row, !row.expanded)}
            />
          );
        }}
      />
      {rows.length === 0 && <p className="empty">{filter === '' ? 'No actor has been seen yet.' : 'No actor is called that.'}</p>}
    </nav>
  );
}

/** Their title says it already. */
const NUMBERED: ReadonlySet<Actor['kind']> = new Set(['session', 'query', 'turn', 'executor']);

const indent = (depth: number) => ({ paddingLeft: 6 + Math.min(depth, 12) * 12 });

function ActorRow(props: {
  readonly row: Extract<TreeRow, { kind: 'actor' }>;
  readonly id: string;
  readonly selected: boolean;
  readonly travel: number | null;
  readonly onSelect: () => void;
  readonly onToggle: () => void;
}) {
  const { row, id, selected, travel, onSelect, onToggle } = props;
  const { actor } = row;
  const { flow } = useInspector();
  const moment = travel === null ? null : flow.index.at(actor.id, travel);
  const status = moment?.status ?? actor.status;
  const leaves = moment ? moment.leaves : actor.leaves;
  const waiting = travel === null && actor.waiting > 0;
  const states = leaves.map(statePath).join(', ');
  const tone = waiting ? 'asking' : toneOf(actor, status);
  return (
    <div
      id={id}
      className={`tree-row${selected ? ' selected' : ''}${status === 'active' ? '' : ' ended'}`}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={selected}
      {...(row.hasChildren ? { 'aria-expanded': row.expanded } : {})}
      style={indent(row.depth)}
      onClick={onSelect}
      onDoubleClick={onToggle}
      title={`${actor.id}${states === '' ? '' : `\n${states}`}`}
      data-actor={actor.id}
    >
      {row.hasChildren ? (
        <span
          className={`twist${row.expanded ? ' open' : ''}`}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Icon name="chevron" size={11} />
        </span>
      ) : (
        <span className="twist" />
      )}
      <span className={`dot ${tone}`} />
      <span className="name">
        <Visible text={actorTitle(actor)} />
      </span>
      {actor.label !== '' && !NUMBERED.has(actor.kind) && (
        <span className="about mono">
          <Visible text={actor.label} />
        </span>
      )}
      <span className="grow" />
      {waiting && <span className="badge ask">{actor.kind === 'toolCall' ? 'asks' : count(actor.waiting)}</span>}
      {!waiting && travel === null && actor.problems > 0 && actor.kind !== 'toolCall' && (
        <span className="badge err" title={plural(actor.problems, 'problem')}>
          {count(actor.problems)}
        </span>
      )}
      {status === 'active' && leaves.length > 0 && !waiting && <span className="state-name">{shortState(leaves)}</span>}
      {status !== 'active' && actor.kind !== 'toolCall' && actor.calls > 0 && !row.expanded && (
        <span className="state-name">{plural(actor.calls, 'call')}</span>
      )}
    </div>
  );
}

/** The state in a word or two: the innermost that is no mere `running`. */
function shortState(leaves: readonly string[]): string {
  return leaves
    .map(shortLeaf)
    .filter((name) => name !== 'none')
    .join(', ');
}
function shortLeaf(leaf: string): string {
  const parts = leaf.split('.');
  const last = parts.at(-1) ?? '';
  const generic = last === 'running' || last === 'matching' || last === 'settling';
  return generic && parts.length > 2 ? (parts.at(-2) ?? last) : last;
}

function toneOf(actor: Actor, status: Actor['status']): string {
  if (status === 'error') return 'err';
  if (actor.kind === 'toolCall' && actor.problems > 0) return 'err';
  if (status === 'active') return 'on';
  return status === 'stopped' || status === 'unknown' ? 'cut' : 'done';
}

function FoldRow(props: {
  readonly row: Extract<TreeRow, { kind: 'fold' }>;
  readonly id: string;
  readonly current: boolean;
  readonly onToggle: () => void;
}) {
  const { row, id, current, onToggle } = props;
  const text = [`${count(row.done)} done`, row.failed > 0 ? `${count(row.failed)} with problems` : ''].filter(Boolean).join(', ');
  return (
    <div
      id={id}
      className={`tree-row fold${current ? ' current' : ''}`}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.expanded}
      aria-selected={false}
      style={indent(row.depth)}
      onClick={onToggle}
    >
      <span className={`twist${row.expanded ? ' open' : ''}`}>
        <Icon name="chevron" size={11} />
      </span>
      <span className="quiet">{text}</span>
    </div>
  );
}
