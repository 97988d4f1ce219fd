import { goLive } from '../model/actions.js';
import { count, duration } from '../ui/format.js';
import { useFlowVersion, useInspector, useRemote, useTicks, useView } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';
import { RestartFrom } from './RestartFrom.js';

/** What one must know about what one sees: it is old, incomplete, held, or from another time. */
export function Banners() {
  const inspector = useInspector();
  const view = useView();
  const { status, retryAt, held, warnings, notices, isRecorded, canRestart } = useRemote();
  useFlowVersion();
  useTicks(retryAt !== null || held.resumesInMs !== null, 500);
  const { flow } = inspector;
  const live = status === 'live' && !isRecorded;
  return (
    <div className="banners">
      {status === 'disconnected' && (
        <p className="banner bad" role="status">
          <Icon name="warning" /> <b>Disconnected.</b> What you see is what was known; the flow may go on.{' '}
          {retryAt !== null && (
            <span className="num">Next try in {duration(Math.max(0, Math.ceil((retryAt - Date.now()) / 1000) * 1000))}.</span>
          )}
          <span className="grow" />
          <button type="button" className="button small" onClick={() => inspector.reconnect()}>
            Try now
          </button>
        </p>
      )}
      {status === 'refused' && (
        <p className="banner bad" role="status">
          <Icon name="warning" />
          <span>
            <b>The runtime refused this page.</b> Its link is wrong, has expired with a restart, or too many pages are open. Open the link
            that the runtime printed last.
          </span>
          <span className="grow" />
          <button type="button" className="button small" onClick={() => inspector.reconnect()}>
            Try again
          </button>
        </p>
      )}
      {view.travel !== null && (
        <div className="banner travel" role="status">
          <span>
            Viewing step <b className="num">{count(view.travel)}</b> of <b className="num">{count(flow.lastSeq)}</b>
            {live ? ' — live goes on' : ''}
          </span>
          <span className="grow" />
          {canRestart && inspector.mayControl && <RestartFrom seq={view.travel} />}
          <button
            type="button"
            className="button small"
            onClick={() => {
              goLive(inspector);
              // This button goes with its banner; focus stays with the time.
              document.getElementById('time')?.focus();
            }}
          >
            {live ? 'Live' : 'End'}
          </button>
        </div>
      )}
      {held.paused && held.why?.kind === 'breakpoint' && (
        <p className="banner paused" role="status">
          <span className="break-dot on" />
          <span>
            Stopped at a breakpoint{held.why.state === undefined ? '' : ' on '}
            {held.why.state !== undefined && <b className="mono">{held.why.state}</b>}. F10 steps, F8 resumes.
          </span>
        </p>
      )}
      {held.resumesInMs !== null && (
        <p className="banner paused">No controlling page is left; the flow goes on in {duration(held.resumesInMs)}.</p>
      )}
      {status === 'recording' &&
        warnings.map((warning) => (
          <p className="banner" key={warning}>
            <Icon name="warning" /> {warning}
          </p>
        ))}
      {notices.map((notice) => (
        <p className={`banner ${notice.tone === 'error' ? 'bad' : ''}`} key={notice.id} role="status" data-notice={notice.tone}>
          <span>
            {notice.text}
            {notice.link !== undefined && (
              <>
                {' '}
                <a href={notice.link} target="_blank" rel="noreferrer">
                  Open its page
                </a>
              </>
            )}
          </span>
          <span className="grow" />
          <button type="button" className="tool" aria-label="Dismiss" onClick={() => inspector.dismiss(notice.id)}>
            <Icon name="close" size={11} />
          </button>
        </p>
      ))}
    </div>
  );
}
