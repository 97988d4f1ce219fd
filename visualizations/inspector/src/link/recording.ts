import { EMBEDDED_RECORDING_ID, type FlowRecording } from '../../../../src/inspect/protocol/flowEvents.js';
import { parseFlowText } from '../../../../src/inspect/protocol/flowText.js';

const GZIP = [0x1f, 0x8b];

/** The recording inside a one-file HTML, if this page is one. */
export async function embeddedRecording(): Promise<FlowRecording | null> {
  const element = document.getElementById(EMBEDDED_RECORDING_ID);
  if (!element) return null;
  const binary = atob(element.textContent.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return readRecording(bytes);
}

/** Reads a `*.flow.jsonl` or `*.flow.jsonl.gz` file. Throws an error a person can act on when it is neither. */
export async function readRecording(bytes: Uint8Array<ArrayBuffer>): Promise<FlowRecording> {
  const zipped = bytes[0] === GZIP[0] && bytes[1] === GZIP[1];
  if (!zipped) return parseFlowText(new TextDecoder().decode(bytes));
  const { text, cut } = await gunzip(bytes);
  const recording = parseFlowText(text);
  return cut ? { ...recording, warnings: ['The file was cut short; what could be read is shown.', ...recording.warnings] } : recording;
}

/** What can be unpacked, and whether the end is missing. */
async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<{ readonly text: string; readonly cut: boolean }> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), cut: false };
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return { text, cut: true };
  }
}
