import { useEffect, useRef, useState } from 'react';
import { plural } from '../ui/format.js';
import { useRemote } from '../ui/hooks.js';
import { ApprovalCard } from './ApprovalCard.js';

/** Questions that wait for a person, above every view. */
export function Approvals() {
  const { approvals } = useRemote();
  const [shownId, setShownId] = useState<string | null>(null);
  const cameFrom = useRef<Element | null>(null);
  const at = Math.max(
    0,
    approvals.findIndex((approval) => approval.id === shownId),
  );
  const approval = approvals[at];
  // A new question must not take the place, or the key press, of the one that is being read.
  useEffect(() => {
    if (approval && shownId !== approval.id) setShownId(approval.id);
  }, [approval, shownId]);
  // Focus goes back to where it came from, not on to the next question: a key meant for this one must not answer that one.
  const leave = (): void => {
    const back = cameFrom.current?.isConnected ? cameFrom.current : document.querySelector('#log-panel .rows-scroll');
    if (back instanceof HTMLElement || back instanceof SVGElement) back.focus();
  };
  return (
    <div
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) cameFrom.current = relatedTarget;
      }}
    >
      <div className="visually-hidden" role="status" aria-live="assertive">
        {approval ? `${plural(approvals.length, 'approval')} waiting: ${approval.toolName} ${approval.title}` : ''}
      </div>
      {approval && (
        <ApprovalCard
          key={`${approval.id} ${approval.inputDigest}`}
          approval={approval}
          place={at + 1}
          total={approvals.length}
          onOther={(step) => setShownId(approvals[(at + step + approvals.length) % approvals.length]?.id ?? null)}
          onLeave={leave}
        />
      )}
    </div>
  );
}
