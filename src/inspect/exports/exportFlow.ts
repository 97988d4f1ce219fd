import type { FlowRecording } from '../protocol/flowEvents.js';
import type { ExportKind } from '../protocol/rpc.js';
import { Redactor } from '../redact.js';
import { defaultPageDir, loadPage } from '../server/staticFiles.js';
import { buildExport } from './buildExport.js';

/** The bytes of an export, for a program without a page. Throws what the page would say when it is refused. */
export function exportFlow(recording: FlowRecording, kind: ExportKind): Buffer {
  const made = buildExport(recording, { kind }, { redactor: new Redactor(), page: () => loadPage(defaultPageDir()) });
  if ('code' in made) throw new Error(made.message);
  return Buffer.from(made.text, made.encoding);
}
