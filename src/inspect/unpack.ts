import { constants, gunzipSync } from 'node:zlib';
import { errorCode } from '../tool/errors.js';
import { CUT_SHORT, isGzip, MOST_LAYERS } from './protocol/packing.js';

/** A file's bytes as they were before they were packed. */
export interface Unpacked {
  /** UTF-8 without a byte order mark. */
  readonly bytes: Buffer;
  /** What was wrong with the packing, in words for a person. */
  readonly warnings: readonly string[];
}

/**
 * Undoes gzip, however often it was applied, and UTF-16 (what PowerShell's `>` writes). A packed file that was cut or damaged gives what
 * stands before that place.
 */
export function unpack(file: Buffer): Unpacked {
  let bytes = file;
  const warnings: string[] = [];
  for (let layer = 0; layer < MOST_LAYERS && isGzip(bytes); layer++) {
    const { whole, warning } = gunzip(bytes);
    bytes = whole;
    if (warning !== undefined) warnings.push(warning);
  }
  return { bytes: asUtf8(bytes), warnings };
}

function gunzip(bytes: Buffer): { readonly whole: Buffer; readonly warning?: string } {
  try {
    return { whole: gunzipSync(bytes) };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'Z_BUF_ERROR') {
      return { whole: beginning(bytes, bytes.length) ?? Buffer.alloc(0), warning: CUT_SHORT };
    }
    if (code !== 'Z_DATA_ERROR') throw error;
    return { whole: upToDamage(bytes), warning: 'The packed file is damaged; what could be read is shown.' };
  }
}

const beginning = (bytes: Buffer, length: number): Buffer | undefined => {
  try {
    return gunzipSync(bytes.subarray(0, length), { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return undefined;
  }
};

/** zlib gives nothing of what it has read before an error, so the longest beginning without one is looked for, by halves. */
function upToDamage(bytes: Buffer): Buffer {
  let [whole, damaged] = [0, bytes.length];
  let best: Buffer = Buffer.alloc(0);
  while (damaged - whole > 1) {
    const middle = (whole + damaged) >> 1;
    const read = beginning(bytes, middle);
    if (read) [whole, best] = [middle, read];
    else damaged = middle;
  }
  return best;
}

function asUtf8(bytes: Buffer): Buffer {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return Buffer.from(bytes.subarray(2).toString('utf16le'));
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    const even = bytes.subarray(2, bytes.length - (bytes.length % 2));
    return Buffer.from(Buffer.from(even).swap16().toString('utf16le'));
  }
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
