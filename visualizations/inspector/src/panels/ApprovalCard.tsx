import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { PendingApproval } from '../../../../src/inspect/protocol/rpc.js';
import { isJsonObject } from '../../../../src/json.js';
import { selectCall } from '../model/actions.js';
import { suggestionText } from '../model/describe.js';
import { useInspector, useRemote, useTicks } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { Visible } from '../ui/visible.js';
import { EditInput, InputText, parseEdit } from './ApprovalInput.js';
import { AskedBy, Countdown } from './ApprovalReason.js';
import { allAnswered, noChoices, QuestionForm } from './QuestionForm.js';

interface CardProps {
  readonly approval: PendingApproval;
  readonly place: number;
  readonly total: number;
  readonly onOther: (step: number) => void;
  /** The card goes while something in it has focus. */
  readonly onLeave: () => void;
}

/** One question: what is asked, why, and every way to answer it. */
export function ApprovalCard({ approval, place, total, onOther, onLeave }: CardProps) {
  const inspector = useInspector();
  const { scope, canAnswer } = useRemote();
  const { questions } = approval;
  const [seen, setSeen] = useState(false);
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState<'more' | 'edit' | null>(null);
  const [remember, setRemember] = useState<ReadonlySet<number>>(new Set());
  const [message, setMessage] = useState('');
  const [draft, setDraft] = useState(() => JSON.stringify(approval.input, null, 2));
  const [choices, setChoices] = useState(() => noChoices(questions));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const card = useRef<HTMLElement>(null);
  const [input, setInput] = useState<HTMLDivElement | null>(null);
  const may = scope === 'control' && canAnswer;
  const edited = open === 'edit' ? parseEdit(draft) : undefined;
  const mayAllow = may && (questions ? allAnswered(choices) : seen && edited !== null);
  useTicks(approval.deadline !== undefined, 1000);

  const left = useRef(onLeave);
  left.current = onLeave;
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement)) left.current();
    };
  }, []);

  // A short input is seen at once; a long one when its end has come into view.
  useEffect(() => {
    if (!input) return;
    const look = (): void => {
      if (isAtEnd(input)) setSeen(true);
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(input);
    return () => observer.disconnect();
  }, [input]);

  // The buttons stay enabled meanwhile: a button that is switched off loses focus.
  const send = async (behavior: 'allow' | 'deny', interrupt = false): Promise<void> => {
    if (busy) return;
    setBusy(true);
    const allows = behavior === 'allow';
    const error = await inspector.answer({
      id: approval.id,
      inputDigest: approval.inputDigest,
      behavior,
      ...(allows && questions ? { answers: choices } : {}),
      ...(allows && edited ? { updatedInput: edited } : {}),
      ...(allows && remember.size > 0 ? { remember: [...remember] } : {}),
      ...(!allows && message !== '' ? { message } : {}),
      ...(interrupt ? { interrupt } : {}),
    });
    setBusy(false);
    if (error) setProblem(error.message);
  };

  const call = inspector.flow.call(approval.toolUseId);
  const saidByInput = isJsonObject(approval.input) && Object.values(approval.input).includes(approval.title);
  return (
    <section
      ref={card}
      className="approval"
      id="approval"
      aria-label={`Approval: ${approval.toolName} ${approval.title}`}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
        if (event.key === 'y' && mayAllow) void send('allow');
        else if (event.key === 'n' && may) void send('deny');
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <div className="approval-head">
        <span className="approval-mark">
          <Icon name="person" />
        </span>
        <b>{approval.toolName}</b>
        {approval.agent !== undefined && (
          <span className="quiet">
            of <Visible text={approval.agent} />
          </span>
        )}
        {!saidByInput && (
          <span className="approval-title mono">
            <Visible text={approval.title} />
          </span>
        )}
        <AskedBy approval={approval} may={may} />
        <span className="grow" />
        {approval.deadline !== undefined && <Countdown deadline={approval.deadline} />}
        {total > 1 && (
          <span className="approval-place">
            <button type="button" className="tool" aria-label="Previous question" onClick={() => onOther(-1)}>
              <Icon name="back" size={11} />
            </button>
            <span className="num">
              {place} of {total}
            </span>
            <button type="button" className="tool" aria-label="Next question" onClick={() => onOther(1)}>
              <Icon name="forward" size={11} />
            </button>
          </span>
        )}
        {call && (
          <button type="button" className="button small" onClick={() => selectCall(inspector, call)}>
            Show call
          </button>
        )}
        <button
          type="button"
          className="button primary"
          disabled={!mayAllow}
          onClick={() => void send('allow')}
          title={mayAllow ? '' : questions ? 'Answer every question first' : 'Read the input to its end first'}
        >
          {questions ? 'Answer' : open === 'edit' ? 'Allow edited' : remember.size > 0 ? 'Allow, remember' : 'Allow'} <kbd>y</kbd>
        </button>
        <button type="button" className="button danger" disabled={!may} onClick={() => void send('deny')}>
          Deny <kbd>n</kbd>
        </button>
        <button
          type="button"
          className="tool"
          aria-expanded={open === 'more'}
          aria-label="More answers"
          onClick={() => setOpen(open === 'more' ? null : 'more')}
        >
          <Icon name="more" />
        </button>
      </div>
      {questions ? (
        <QuestionForm
          questions={questions}
          choices={choices}
          disabled={!may}
          onChange={setChoices}
          onDone={() => {
            if (mayAllow) void send('allow');
          }}
        />
      ) : open === 'edit' ? (
        <EditInput input={approval.input} draft={draft} onChange={setDraft} invalid={edited === null} />
      ) : (
        <div
          className={`approval-input${all ? ' all' : ''}`}
          ref={setInput}
          onScroll={({ currentTarget }) => {
            if (isAtEnd(currentTarget)) setSeen(true);
          }}
          tabIndex={0}
          role="region"
          aria-label="Whole input"
        >
          <InputText value={approval.input} />
        </div>
      )}
      {!seen && !questions && open !== 'edit' && (
        <p className="approval-note">
          Allow is off until the whole input has been in view: scroll to its end, or{' '}
          <button type="button" className="link" onClick={() => setAll(true)}>
            show all
          </button>
          .
        </p>
      )}
      {open === 'more' && (
        <div className="approval-more">
          {!questions &&
            approval.suggestions.map((suggestion, index) => (
              <label className="check" key={suggestionText(suggestion)}>
                <input
                  type="checkbox"
                  checked={remember.has(index)}
                  onChange={(event) => {
                    const next = new Set(remember);
                    if (event.target.checked) next.add(index);
                    else next.delete(index);
                    setRemember(next);
                  }}
                />
                With Allow: {suggestionText(suggestion)}
              </label>
            ))}
          <label className="check message">
            With Deny, tell the model:
            <input type="text" value={message} onChange={(event) => setMessage(event.target.value)} placeholder="reason (optional)" />
          </label>
          <div>
            {approval.editable && !questions && (
              <button type="button" className="button small" disabled={!may} onClick={() => setOpen('edit')}>
                Edit the input
              </button>
            )}{' '}
            <button type="button" className="button small danger" disabled={!may} onClick={() => void send('deny', true)}>
              Deny and stop the query
            </button>
          </div>
        </div>
      )}
      {open === 'edit' && (
        <p className="approval-note">
          <button type="button" className="link" onClick={() => setOpen(null)}>
            Discard the edit
          </button>
        </p>
      )}
      {problem !== null && (
        <p className="approval-note bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

function isAtEnd({ clientHeight, scrollTop, scrollHeight }: HTMLElement): boolean {
  return clientHeight > 0 && scrollTop + clientHeight >= scrollHeight - 2;
}
