import { type FormEvent, useState } from 'react';
import type { Breakpoint } from '../../../../src/inspect/protocol/rpc.js';
import { addBreakpoint, enableBreakpoint, newId, removeBreakpoint } from '../model/actions.js';
import { breakpointText } from '../model/describe.js';
import { actorTitle } from '../model/tree.js';
import { actorKey } from '../ui/format.js';
import { useInspector, useRemote, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';

type Kind = Breakpoint['on'];
const KINDS: readonly { readonly kind: Kind; readonly name: string; readonly hint: string }[] = [
  { kind: 'tool', name: 'Tool', hint: 'Bash' },
  { kind: 'event', name: 'Event', hint: 'call.start or call.*' },
  { kind: 'state', name: 'Entering a state', hint: 'toolCall.executing.calling' },
  { kind: 'verdict', name: 'Verdict', hint: '' },
  { kind: 'error', name: 'Any error', hint: '' },
];

/** All breakpoints with their origin, and a line to add one. */
export function BreakpointMenu() {
  const inspector = useInspector();
  const { breakpoints, scope } = useRemote();
  const [kind, setKind] = useState<Kind>('tool');
  const [text, setText] = useState('');
  const [behavior, setBehavior] = useState<'allow' | 'ask' | 'deny'>('deny');
  const [alone, setAlone] = useState(false);
  const { actor: selected } = useView();
  const actor = selected === null ? undefined : inspector.flow.actors.get(selected);
  const may = scope === 'control';
  const takesText = kind === 'tool' || kind === 'event' || kind === 'state';
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const made = makeBreakpoint(kind, text.trim(), behavior);
    if (!made) return;
    addBreakpoint(inspector, alone && actor ? { ...made, actor: actor.id } : made);
    setText('');
  };
  return (
    <>
      <h2>Breakpoints</h2>
      {breakpoints.length === 0 && <p className="quiet">None yet. In the chart, focus a state and press b.</p>}
      <ul className="breakpoints">
        {breakpoints.map((breakpoint) => (
          <li key={breakpoint.id}>
            <label className="check">
              <input
                type="checkbox"
                checked={breakpoint.enabled}
                disabled={!may}
                onChange={(event) => enableBreakpoint(inspector, breakpoint.id, event.target.checked)}
              />
              <span className="mono">{breakpointText(breakpoint)}</span>
            </label>
            <span className="grow" />
            {breakpoint.actor !== undefined && (
              <span className="quiet mono" title={breakpoint.actor}>
                in {actorKey(breakpoint.actor)}
              </span>
            )}
            <span className="quiet">{breakpoint.origin === 'code' ? 'set in code' : ''}</span>
            {breakpoint.origin === 'page' && (
              <button
                type="button"
                className="tool"
                disabled={!may}
                aria-label={`Remove ${breakpointText(breakpoint)}`}
                onClick={() => removeBreakpoint(inspector, breakpoint.id)}
              >
                <Icon name="close" size={11} />
              </button>
            )}
          </li>
        ))}
      </ul>
      <form className="add-breakpoint" onSubmit={add}>
        <label className="visually-hidden" htmlFor="breakpoint-kind">
          Break on
        </label>
        <select
          id="breakpoint-kind"
          value={kind}
          onChange={(event) => setKind(KINDS.find((one) => one.kind === event.target.value)?.kind ?? 'tool')}
        >
          {KINDS.map((one) => (
            <option key={one.kind} value={one.kind}>
              {one.name}
            </option>
          ))}
        </select>
        {takesText && (
          <input
            type="text"
            className="mono"
            aria-label="Of what"
            placeholder={KINDS.find((one) => one.kind === kind)?.hint}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {kind === 'verdict' && (
          <select
            aria-label="Verdict"
            value={behavior}
            onChange={(event) => setBehavior(event.target.value === 'allow' ? 'allow' : event.target.value === 'ask' ? 'ask' : 'deny')}
          >
            <option>deny</option>
            <option>ask</option>
            <option>allow</option>
          </select>
        )}
        <button type="submit" className="button" disabled={!may || (takesText && text.trim() === '')}>
          Add
        </button>
      </form>
      {actor && (
        <label className="check">
          <input type="checkbox" checked={alone} disabled={!may} onChange={(event) => setAlone(event.target.checked)} />
          <span className="clip" title={`${actor.id} and what is below it`}>
            Only in {actorTitle(actor)} <span className="quiet mono">{actor.label}</span>
          </span>
        </label>
      )}
      <p className="quiet note">
        A microstep is never cut in two. A child process or a model stream that is already running is not frozen: its results wait.
      </p>
    </>
  );
}

function makeBreakpoint(kind: Kind, text: string, behavior: 'allow' | 'ask' | 'deny'): Breakpoint | null {
  const base = { id: newId(), enabled: true, origin: 'page' as const };
  switch (kind) {
    case 'error':
      return { ...base, on: 'error' };
    case 'verdict':
      return { ...base, on: 'verdict', behavior };
    case 'tool':
      return text === '' ? null : { ...base, on: 'tool', tool: text };
    case 'event':
      return text === '' ? null : { ...base, on: 'event', event: text };
    case 'state':
      return text === '' ? null : { ...base, on: 'state', state: text, when: 'before' };
  }
}
