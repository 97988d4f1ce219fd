import { ruleOrigin } from '../../../../machines/ruleOrigin.js';
import type { PendingApproval } from '../../../../src/inspect/protocol/rpc.js';
import { sourceText } from '../model/describe.js';
import { duration } from '../ui/format.js';
import { useInspector } from '../ui/hooks.js';
import { Visible } from '../ui/visible.js';

/** Which check put the question: the rule and its file, or whoever else asked. */
export function AskedBy({ approval: { askedBy, questions }, may }: { readonly approval: PendingApproval; readonly may: boolean }) {
  return (
    <span className="approval-why">
      {questions ? (
        'asks you'
      ) : askedBy?.source?.type === 'rule' ? (
        <>
          asked by <span className={`tag ${askedBy.source.rule.behavior}`}>{askedBy.source.rule.behavior} rule</span>{' '}
          <code className="rule">{askedBy.source.rule.text}</code> <span className="origin mono">{ruleOrigin(askedBy.source.rule)}</span>
        </>
      ) : askedBy ? (
        <>
          asked by {sourceText(askedBy.source) || 'the permission gate'}: <Visible text={askedBy.reason} />
        </>
      ) : (
        'asked because nothing allows it'
      )}
      {!may && <span className="quiet"> · this link may look, not answer</span>}
    </span>
  );
}

/** How long the question still waits. */
export function Countdown({ deadline }: { readonly deadline: number }) {
  const { flow } = useInspector();
  const left = (flow.header?.startedAt ?? 0) + deadline - Date.now();
  return (
    <span className={`countdown num${left < 15_000 ? ' soon' : ''}`}>
      lapses in {duration(Math.max(0, Math.round(left / 1000) * 1000))}
    </span>
  );
}
