import { EMBEDDED_RECORDING_ID, type FlowRecording } from '../../../../src/inspect/protocol/flowEvents.js';
import { parseFlowText } from '../../../../src/inspect/protocol/flowText.js';
import { CUT_SHORT, isGzip, MOST_LAYERS } from '../../../../src/inspect/protocol/packing.js';

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
export async function readRecording(file: Uint8Array<ArrayBuffer>): Promise<FlowRecording> {
  let bytes = file;
  let cut = false;
  for (let layer = 0; layer < MOST_LAYERS && isGzip(bytes); layer++) {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    try {
      const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
    } catch {
      cut = true;
    }
    bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  }
  const recording = parseFlowText(new TextDecoder().decode(bytes));
  return cut ? { ...recording, warnings: [CUT_SHORT, ...recording.warnings] } : recording;
}
