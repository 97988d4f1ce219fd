import type { Call } from '../model/calls.js';
import { GATES, type Gate, type GateStatus } from '../model/gates.js';
import { duration } from '../ui/format.js';
import { useFlowVersion, useInspector, useTicks, useView } from '../ui/hooks.js';
import { Icon, type IconName } from '../ui/icons.js';
import { Visible } from '../ui/visible.js';

/** The six gates of the selected call: how far it has come, what each said, and how long it took. */
export function GateStrip() {
  const { flow } = useInspector();
  const view = useView();
  useFlowVersion();
  const live = view.call === null ? undefined : flow.call(view.call);
  const call = live && flow.callAt(live, view.travel);
  useTicks(call !== undefined && call.endT === null && view.travel === null, 500);

  return (
    <section className="gates" aria-label="The six gates">
      <div className="gates-call">
        {call ? (
          <>
            <b>
              <Visible text={call.tool} />
            </b>
            <span className="mono about" title={call.label}>
              <Visible text={call.label} />
            </span>
          </>
        ) : (
          <span className="quiet">No call selected</span>
        )}
      </div>
      <ol>
        {GATES.map((gate, index) => {
          const state = call?.gates[index];
          const status = state?.status ?? 'ahead';
          return (
            <li
              key={gate.name}
              className={`gate ${status}`}
              data-gate={gate.name}
              data-status={status}
              title={status === 'unknown' ? 'A transcript does not record this gate.' : gate.about}
            >
              <span className="gate-mark">{MARKS[status] ? <Icon name={MARKS[status]} size={12} /> : index + 1}</span>
              <span className="gate-name">{gate.name}</span>
              <span className="gate-note">{call && state ? noteOf(call, state, index, flow.lastT) : ''}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const MARKS: Partial<Record<GateStatus, IconName>> = {
  passed: 'check',
  refused: 'cross',
  failed: 'cross',
  cut: 'minus',
  skipped: 'minus',
  asking: 'person',
};

function noteOf(call: Call, gate: Gate, index: number, now: number): string {
  const again = gate.passages > 1 ? ` ×${gate.passages}` : '';
  switch (gate.status) {
    case 'unknown':
      return 'unknown';
    case 'ahead':
      return '';
    case 'skipped':
      return 'none';
    case 'asking':
      return `asking ${duration(now - gate.since)}`;
    case 'open':
      return `${duration(gate.ms + Math.max(0, now - gate.since))}${again}`;
    default: {
      const word = index === 4 ? verdictOf(call) : gate.status === 'passed' ? '' : (call.outcome ?? gate.status);
      return `${[word, duration(gate.ms)].filter(Boolean).join(' · ')}${again}`;
    }
  }
}

function verdictOf(call: Call): string {
  const decision = call.decisions.at(-1)?.decision;
  if (!decision) return '';
  if (decision.asked) return decision.behavior === 'allow' ? 'asked, yes' : 'asked, no';
  return decision.behavior === 'allow' ? 'allow' : 'deny';
}

/** Six pips for a table row; the words are in the label. */
export function GatePips({ call }: { readonly call: Call }) {
  const reached = call.gates.findLastIndex((gate) => gate.status !== 'ahead' && gate.status !== 'passed' && gate.status !== 'skipped');
  const at = GATES[reached]?.name;
  const label = call.transcript
    ? 'not recorded'
    : at
      ? `${call.gates[reached]?.status} at ${at}`
      : call.endT === null
        ? 'not started'
        : 'all passed';
  return (
    <span className="pips" role="img" aria-label={`Gates: ${label}`}>
      {call.gates.map((gate, index) => (
        <span key={GATES[index]?.name} className={`pip ${gate.status}`} />
      ))}
    </span>
  );
}
