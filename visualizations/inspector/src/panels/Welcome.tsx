import { useFlowVersion, useRemote } from '../ui/hooks.js';
import { Icon } from '../ui/icons.js';

/** The page before the first event: what is missing, and the way to it. */
export function Welcome() {
  const { status } = useRemote();
  useFlowVersion();
  return (
    <main className="welcome">
      <Icon name="gate" size={40} />
      {status === 'live' && (
        <>
          <h2>Connected. No actor has started yet.</h2>
          <p>The page fills as soon as the session does something.</p>
        </>
      )}
      {status === 'connecting' && <h2>Connecting…</h2>}
      {status === 'disconnected' && <h2>The runtime does not answer.</h2>}
      {(status === 'noLink' || status === 'refused') && (
        <>
          <h2>{status === 'refused' ? 'This link is not accepted.' : 'This page needs the link that the runtime printed.'}</h2>
          <p>Start a flow with its inspector, or add one line to your own program, and open the address that it prints:</p>
          <pre>
            {'npx sixgates demo --inspect\n\n'}
            {"import { attachInspector } from 'sixgates/inspect';\n"}
            {'const inspector = await attachInspector(actor);\nconsole.log(inspector.url);'}
          </pre>
        </>
      )}
      {status === 'recording' && <h2>This recording holds no events.</h2>}
      <p className="quiet">A recording (*.flow.jsonl.gz) can be opened with the folder button above.</p>
    </main>
  );
}
