import { useState } from 'react';
import type { ExportKind, ExportReady, ExportRequest, RpcError } from '../../../../src/inspect/protocol/rpc.js';
import { count, size } from '../ui/format.js';
import { useInspector, useView } from '../ui/hooks.js';
import { Visible } from '../ui/visible.js';

const KINDS: readonly { readonly kind: ExportKind; readonly name: string; readonly about: string; readonly needsActor?: true }[] = [
  { kind: 'recording', name: 'Recording', about: 'everything, to open here again' },
  { kind: 'html', name: 'One-file HTML', about: 'this page with the flow inside, for sharing' },
  { kind: 'vitest', name: 'Vitest test', about: 'folds the events of the selected machine and compares states', needsActor: true },
  { kind: 'nodeTest', name: 'node:test test', about: 'the same, without Vitest', needsActor: true },
  { kind: 'chromeTrace', name: 'Chrome trace', about: 'for Perfetto and chrome://tracing' },
  { kind: 'mermaid', name: 'Mermaid', about: 'the selected machine as stateDiagram-v2', needsActor: true },
  { kind: 'scxml', name: 'SCXML', about: 'the selected machine', needsActor: true },
];
const PREVIEW_CHARS = 6000;

/** Choose, look at what would be written and what was masked, then save. */
export function ExportMenu() {
  const inspector = useInspector();
  const view = useView();
  const [kind, setKind] = useState<ExportKind>('recording');
  const [range, setRange] = useState(false);
  const [busy, setBusy] = useState(false);
  const [ready, setReady] = useState<{ readonly ready: ExportReady; readonly head: string } | null>(null);
  const [error, setError] = useState<RpcError | null>(null);
  const chosen = KINDS.find((one) => one.kind === kind);
  const seqs = range && view.range ? seqRange(inspector, view.range) : undefined;

  const prepare = async (allowFindings: boolean): Promise<void> => {
    setBusy(true);
    setError(null);
    setReady(null);
    const carries = kind === 'recording' || kind === 'html';
    const { graphs, header } = inspector.flow;
    const layouts = carries ? await inspector.layouts.foreign([...graphs.values()], header?.layouts) : {};
    const request: ExportRequest = {
      kind,
      ...(Object.keys(layouts).length > 0 ? { layouts } : {}),
      ...(seqs ? { range: seqs } : {}),
      ...(chosen?.needsActor && view.actor !== null ? { actor: view.actor } : {}),
      ...(allowFindings ? { allowFindings } : {}),
    };
    const result = await inspector.export(request);
    if (!result.ok) setError(result.error);
    else {
      const part = result.value.encoding === 'utf8' ? await inspector.exportPart(result.value.id, 0) : null;
      setReady({ ready: result.value, head: part?.ok ? part.value.text.slice(0, PREVIEW_CHARS) : '' });
    }
    setBusy(false);
  };

  return (
    <>
      <h2>Export</h2>
      <fieldset className="kinds">
        <legend className="visually-hidden">What to make</legend>
        {KINDS.map((one) => (
          <label key={one.kind} className="check">
            <input
              type="radio"
              name="export-kind"
              checked={kind === one.kind}
              onChange={() => {
                setKind(one.kind);
                setReady(null);
                setError(null);
              }}
            />
            <span>
              {one.name} <span className="quiet">{one.about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {view.range && !chosen?.needsActor && (
        <label className="check">
          <input type="checkbox" checked={range} onChange={(event) => setRange(event.target.checked)} />
          Only the time range picked on the timeline
        </label>
      )}
      {!ready && (
        <button type="button" className="button primary" disabled={busy} onClick={() => void prepare(false)}>
          {busy ? 'Preparing…' : 'Preview'}
        </button>
      )}
      {error && (
        <div role="alert">
          <p className="bad">{error.message}</p>
          {error.code === 'refused' && (
            <button type="button" className="button danger" onClick={() => void prepare(true)}>
              Export it all the same
            </button>
          )}
        </div>
      )}
      {ready && (
        <>
          <p>
            <b className="mono">{ready.ready.filename}</b> <span className="quiet">{size(ready.ready.bytes)}</span>
          </p>
          <p className="quiet">
            {ready.ready.redacted.length === 0
              ? 'Nothing had to be masked.'
              : `Masked: ${ready.ready.redacted.map(({ rule, count: times }) => `${rule} ×${count(times)}`).join(', ')}.`}
          </p>
          {ready.head !== '' && (
            <pre className="preview" tabIndex={0} aria-label="Preview">
              <Visible text={ready.head} />
            </pre>
          )}
          <button type="button" className="button primary" onClick={() => void save(inspector, ready.ready)}>
            Save
          </button>
        </>
      )}
    </>
  );
}

function seqRange(inspector: ReturnType<typeof useInspector>, range: { readonly from: number; readonly to: number }) {
  const { events } = inspector.flow;
  const first = events.find((event) => event.t >= range.from);
  const last = events.findLast((event) => event.t <= range.to);
  return first && last && first.seq <= last.seq ? { fromSeq: first.seq, toSeq: last.seq } : undefined;
}

async function save(inspector: ReturnType<typeof useInspector>, ready: ExportReady): Promise<void> {
  const parts: BlobPart[] = [];
  let offset = 0;
  for (;;) {
    const part = await inspector.exportPart(ready.id, offset);
    if (!part.ok) return inspector.notice(part.error.message, 'error');
    parts.push(part.value.text);
    offset += part.value.text.length;
    if (part.value.done || part.value.text === '') break;
  }
  const blob = new Blob(ready.encoding === 'base64' ? [decodeBase64(parts.join(''))] : parts, { type: ready.mime });
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = ready.filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
