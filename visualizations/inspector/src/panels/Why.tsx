import { ruleOrigin } from '../../../../machines/ruleOrigin.js';
import type { DecisionMade, HookRan } from '../../../../src/inspect/protocol/flowEvents.js';
import type { TraceEntry, VerdictSource } from '../../../../src/permissions/types.js';
import type { Call } from '../model/calls.js';
import { placeText, sourceText } from '../model/describe.js';
import { duration, words } from '../ui/format.js';
import { useRemote } from '../ui/hooks.js';
import { Visible } from '../ui/visible.js';

/** Why a call was let through or not: every check in order, the one that decided marked, with rule, file and line. */
export function Why({ call }: { readonly call: Call }) {
  const { approvals } = useRemote();
  const pending = approvals.find((approval) => approval.toolUseId === call.toolUseId);
  const before = call.hooks.filter((hook) => hook.run.event === 'PreToolUse' || hook.run.event === 'PermissionRequest');
  const after = call.hooks.filter((hook) => !before.includes(hook));
  if (call.transcript) return <Unrecorded call={call} />;
  return (
    <div className="why">
      {call.decisions.length === 0 && (
        <div className="verdict open">
          <b>{call.status === 'asking' ? 'Waits for a person' : call.endT === null ? 'Not decided yet' : 'Never came to a decision'}</b>
          {pending?.askedBy ? (
            <Cause entry={pending.askedBy} />
          ) : (
            call.endT !== null && (
              <p>
                <Visible text={call.summary} />
              </p>
            )
          )}
        </div>
      )}
      {call.decisions.map((decision, index) => (
        <Decision key={decision.seq} decision={decision} passage={call.decisions.length > 1 ? index + 1 : 0} />
      ))}
      {before.length > 0 && <Hooks title="Hooks before the call" hooks={before} />}
      {call.decisions.length > 0 && <Trace decision={call.decisions.at(-1)} />}
      {after.length > 0 && <Hooks title="Hooks after the call" hooks={after} />}
      {call.outcome !== null && (
        <section>
          <h3>End</h3>
          <p className={call.isError ? 'bad' : ''}>
            <b>{call.outcome}</b> <Visible text={call.summary} />
          </p>
        </section>
      )}
    </div>
  );
}

/** What a transcript leaves open is said to be open. */
function Unrecorded({ call }: { readonly call: Call }) {
  return (
    <div className="why">
      <div className="verdict open" data-verdict="unknown">
        <b>Unknown</b>
        <p>A transcript does not record the mode, the hooks and rules that were tried, or whether a person was asked.</p>
      </div>
      <section>
        <h3>What it does record</h3>
        <dl className="facts roomy">
          <dt>Call</dt>
          <dd className="mono">{call.at ? placeText(call.at) : 'unknown'}</dd>
          <dt>Result</dt>
          <dd className="mono">{call.resultAt ? placeText(call.resultAt) : call.endT === null ? 'later' : 'not in the file'}</dd>
          <dt>Outcome</dt>
          <dd className={call.isError ? 'bad' : ''}>
            {call.outcome ?? 'unknown'} {call.summary !== '' && <Visible text={call.summary} />}
          </dd>
        </dl>
      </section>
    </div>
  );
}

function Decision({ decision: { decision, mode }, passage }: { readonly decision: DecisionMade; readonly passage: number }) {
  const { winner, behavior, asked } = decision;
  return (
    <div className={`verdict ${behavior}`} data-verdict={behavior}>
      <p>
        <b>
          {passage > 0 ? `Passage ${passage}: ` : ''}
          {behavior === 'allow' ? 'Allowed' : 'Denied'}
          {asked ? ' after a question' : ''}
        </b>{' '}
        in mode <span className="mono">{mode}</span>
      </p>
      <Cause entry={winner} />
    </div>
  );
}

function Cause({ entry }: { readonly entry: TraceEntry }) {
  return (
    <p className="cause">
      <Source source={entry.source} />
      {entry.source?.type !== 'rule' && (
        <span className="reason">
          <Visible text={entry.reason} />
        </span>
      )}
    </p>
  );
}

/** Who said it, with the rule's text and the place it is written. */
function Source({ source }: { readonly source: VerdictSource | undefined }) {
  if (source === undefined) return null;
  if (source.type !== 'rule') return <span className="source">{sourceText(source)}</span>;
  const { rule, matched } = source;
  return (
    <span className="source">
      <span className={`tag ${rule.behavior}`}>{rule.behavior} rule</span> <code className="rule">{rule.text}</code>
      {matched !== undefined && (
        <>
          {' '}
          for <code>{matched}</code>
        </>
      )}
      <span className="origin mono" title={rule.scope}>
        {ruleOrigin(rule)}
      </span>
    </span>
  );
}

function Trace({ decision }: { readonly decision: DecisionMade | undefined }) {
  if (!decision) return null;
  const { trace, winner, shadowed } = decision.decision;
  const won = trace.findLastIndex((entry) => entry.check === winner.check && entry.behavior === winner.behavior);
  return (
    <>
      <section>
        <h3>Checks, in order</h3>
        <ol className="trace">
          {trace.map((entry, index) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the order of checks is what identifies them
              key={index}
              className={`${entry.behavior}${index === won ? ' winner' : ''}`}
              data-check={entry.check}
              data-winner={index === won}
            >
              <span className="check-name">{words(entry.check)}</span>
              {entry.behavior === 'passthrough' ? (
                <span className="quiet reason" title={entry.reason}>
                  <Visible text={entry.reason} />
                </span>
              ) : (
                <span>
                  {entry.source?.type !== 'rule' && <span className={`tag ${entry.behavior}`}>{entry.behavior}</span>}{' '}
                  <Source source={entry.source} />
                  {entry.source?.type !== 'rule' && (
                    <span className="reason block">
                      <Visible text={entry.reason} />
                    </span>
                  )}
                </span>
              )}
            </li>
          ))}
        </ol>
      </section>
      {shadowed.length > 0 && (
        <section>
          <h3>Never reached</h3>
          <ul className="shadowed">
            {shadowed.map(({ rule: { rule }, by }) => (
              <li key={`${rule.text}|${ruleOrigin(rule)}`}>
                <span className={`tag ${rule.behavior}`}>{rule.behavior}</span> <code className="rule">{rule.text}</code>
                <span className="origin mono">{ruleOrigin(rule)}</span>
                <span className="quiet block">{by}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Hooks({ title, hooks }: { readonly title: string; readonly hooks: readonly HookRan[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ol className="hooks">
        {hooks.map(({ seq, run }) => (
          <li key={seq} className={run.status}>
            <div className="hook-head">
              <b>{run.name}</b>
              <span className={`tag ${run.verdict ?? 'passthrough'}`}>
                {run.verdict === undefined || run.verdict === 'passthrough' ? 'no opinion' : run.verdict}
              </span>
              <span className="grow" />
              <span className="quiet num">
                {run.status === 'ok' ? '' : `${run.status}, `}
                {run.exitCode === undefined || run.exitCode === null ? '' : `exit ${run.exitCode}, `}
                {duration(run.ms)}
              </span>
            </div>
            {run.command !== undefined && (
              <code className="block wrap">
                <Visible text={run.command} />
              </code>
            )}
            {run.output !== undefined && run.output !== '' && (
              <pre className="hook-output">
                <Visible text={run.output} />
              </pre>
            )}
            {run.notice !== undefined && (
              <p className="bad">
                <Visible text={run.notice} />
              </p>
            )}
            {run.origin !== undefined && <span className="origin mono">{run.origin}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}
