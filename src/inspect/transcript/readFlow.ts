import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '../../tool/errors.js';
import type { FlowRecording } from '../protocol/flowEvents.js';
import { NotAFlowError } from '../protocol/flowText.js';
import { parseUnpacked } from '../recording.js';
import type { RedactionOptions } from '../redact.js';
import { unpack } from '../unpack.js';
import { transcriptFlow } from './convert.js';
import { subagentFiles } from './files.js';

/** A header begins with its type. */
const HEADER_BYTES = 64;

/**
 * Opens what a flow can be read from: a recording, or a Claude Code transcript with the files of its subagents. A transcript becomes a
 * flow whose header has a `source`; what is in it is redacted as if it were recorded now. Throws an error that names the file when it is
 * neither.
 */
export function readFlow(file: string, options: { readonly redaction?: RedactionOptions } = {}): FlowRecording {
  try {
    if (statSync(file).isDirectory()) throw new Error('it is a directory; name one of the files in it.');
    const unpacked = unpack(readFileSync(file));
    try {
      return parseUnpacked(unpacked);
    } catch (error) {
      if (!(error instanceof NotAFlowError)) throw error;
      const { bytes, warnings } = unpacked;
      const files = [{ name: undefined, bytes }, ...subagentFiles(file)];
      const flow = transcriptFlow(files, { name: basename(file), warnings, ...options });
      if (flow) return flow;
      // A header of another version says itself what is wrong.
      if (bytes.subarray(0, HEADER_BYTES).includes('"type":"header"')) throw error;
      throw new Error(
        'it is neither a flow recording (its first line is no header) nor a Claude Code transcript (no line holds a user or assistant message).',
      );
    }
  } catch (error) {
    throw new Error(`Cannot open ${file}: ${messageOf(error)}`, { cause: error });
  }
}
