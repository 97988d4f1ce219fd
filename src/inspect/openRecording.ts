import { FlowLog } from './flowLog.js';
import { openInBrowser } from './openInBrowser.js';
import type { FlowRecording } from './protocol/flowEvents.js';
import { type ServeOptions, serveLog } from './serveFlow.js';
import { readFlow } from './transcript/readFlow.js';

/** A recording, or a transcript as one, that is shown in the page. */
export interface OpenedRecording {
  /** What the file holds. */
  readonly recording: FlowRecording;
  /** The page that shows it. */
  readonly url: string;
  /** Stops serving the page. */
  close(): Promise<void>;
}

/**
 * Shows a recording in the page, as it was recorded, or a Claude Code transcript as far as it tells (see {@link readFlow}). Throws an
 * error that names the file when it is neither.
 */
export async function openRecording(file: string, options: ServeOptions & { readonly open?: boolean } = {}): Promise<OpenedRecording> {
  const recording = readFlow(file);
  // The flow is over: what is noted now stands at its end, not today.
  const end = recording.header.startedAt + (recording.events.at(-1)?.t ?? 0);
  const log = new FlowLog({ recording, now: () => end });
  // A transcript's warnings are notes of its flow already.
  if (!recording.header.source) for (const warning of recording.warnings) log.put({ type: 'note', level: 'warning', text: warning });
  const server = await serveLog({ log, isRecorded: true }, options);
  if (options.open) openInBrowser(server.url, log);
  return { recording, url: server.url, close: () => server.close() };
}
