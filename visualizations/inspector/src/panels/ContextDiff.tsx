import { useMemo } from 'react';
import type { ContextChanged } from '../../../../src/inspect/protocol/flowEvents.js';
import { travelTo } from '../model/actions.js';
import type { Actor } from '../model/actors.js';
import { changes, parseJson } from '../model/json.js';
import { moment, plural } from '../ui/format.js';
import { useBodiesVersion, useFlowVersion, useInspector } from '../ui/hooks.js';
import { Visible } from '../ui/visible.js';
import { JsonTree } from './BodyView.js';
import { TextDiff } from './TextDiff.js';

/** What the last step changed in an actor's context, and the whole of it. `at` is the moment looked at; null is now. */
export function ContextDiff({ actor, at }: { readonly actor: Actor; readonly at: number | null }) {
  const inspector = useInspector();
  const { bodies, flow } = inspector;
  useFlowVersion();
  useBodiesVersion();
  const owner = withContext(actor, (id) => flow.actors.get(id));
  const contexts = owner?.contexts ?? [];
  const found = at === null ? contexts.length - 1 : contexts.findLastIndex((context) => context.seq <= at);
  const current = contexts[found];
  const before = contexts[found - 1];
  const after = current ? bodies.get(current.body) : undefined;
  const earlier = before ? bodies.get(before.body) : undefined;
  const afterText = after?.kind === 'text' ? after.text : undefined;
  const beforeText = earlier?.kind === 'text' ? earlier.text : before ? undefined : '{}';
  const value = useMemo(() => (afterText === undefined ? undefined : parseJson(afterText)), [afterText]);
  const list = useMemo(
    () => (value === undefined || beforeText === undefined ? [] : changes(parseJson(beforeText), value)),
    [value, beforeText],
  );
  if (!current)
    return <p className="empty">{contexts.length === 0 ? 'This actor has told no context.' : 'No context yet at this moment.'}</p>;
  const go = (context: ContextChanged | undefined): void => {
    if (context) travelTo(inspector, context.seq);
  };
  return (
    <div className="context">
      <div className="context-head">
        <span>
          Change {found + 1} of {contexts.length} <span className="quiet num">at {moment(current.t)} s</span>
        </span>
        <span className="grow" />
        <button type="button" className="button small" disabled={!before} onClick={() => go(before)}>
          Earlier
        </button>
        <button type="button" className="button small" disabled={!contexts[found + 1]} onClick={() => go(contexts[found + 1])}>
          Later
        </button>
      </div>
      {value === undefined ? (
        <p className="empty" role="status">
          {after?.kind === 'missing' ? after.message : 'Loading…'}
        </p>
      ) : (
        <>
          <h3>{list.length === 0 ? 'Nothing changed' : plural(list.length, 'change')}</h3>
          <ul className="changes">
            {list.map((change) => (
              <li key={change.path} className={change.kind}>
                <span className="path mono">{change.path || '(all)'}</span>
                {isLongText(change.before) && isLongText(change.after) ? (
                  <TextDiff before={change.before} after={change.after} />
                ) : (
                  <span className="values mono">
                    {change.kind !== 'added' && <del>{short(change.before)}</del>}
                    {change.kind !== 'removed' && (
                      <ins>
                        <Visible text={short(change.after)} />
                      </ins>
                    )}
                  </span>
                )}
              </li>
            ))}
          </ul>
          <h3>Whole context</h3>
          <JsonTree value={value} label="context" />
        </>
      )}
    </div>
  );
}

/** The actor, or the nearest above it that has a context. */
function withContext(actor: Actor, get: (id: string) => Actor | undefined): Actor | undefined {
  for (let at: Actor | undefined = actor; at; at = at.parent === null ? undefined : get(at.parent)) if (at.contexts.length > 0) return at;
  return undefined;
}

const isLongText = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');

const SHORT_CHARS = 160;
function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > SHORT_CHARS ? `${text.slice(0, SHORT_CHARS)}…` : text;
}
