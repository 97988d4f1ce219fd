import { createWriteStream, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { constants, createGzip, gzipSync } from 'node:zlib';
import { makeDirectorySync } from '../makeDirectory.js';
import { messageOf } from '../tool/errors.js';
import { BlockWriter } from './blockWriter.js';
import type { FlowLog } from './flowLog.js';
import type { FlowEvent, FlowRecording } from './protocol/flowEvents.js';
import { bodyRefs, FlowTextWriter, flowText, parseFlowText } from './protocol/flowText.js';
import { type Unpacked, unpack } from './unpack.js';

/** What may be lost when the process is killed: so many events, and no older ones than this. */
const FLUSH_EVERY = 256;
const FLUSH_MS = 1000;
/** Packing happens on another thread, but costs processor time there: the fastest level takes half of the usual one's, for files half as large again. */
const PACKING = {
  level: constants.Z_BEST_SPEED,
  memLevel: 9,
  chunkSize: 64 * 1024,
  // What is written is on its way to the disk at once, without a second round through the other thread.
  flush: constants.Z_SYNC_FLUSH,
};

/** A recording that is being written. */
export interface Recorder {
  /** The file that is written. */
  readonly file: string;
  /** Writes the rest and closes the file. Rejects when something could not be written. */
  close(): Promise<void>;
}

/**
 * Writes a log to a `*.flow.jsonl.gz` file as it grows, what it already holds first. The file is readable by its owner only.
 * A disk that fails is told by `close`; the flow goes on.
 */
export function startRecorder(log: FlowLog, file: string): Recorder {
  makeDirectorySync(dirname(file), 0o700);
  const gzip = createGzip(PACKING);
  const out = createWriteStream(file, { mode: 0o600 });
  let failure: Error | undefined;
  const failed = (error: Error): void => {
    failure ??= error;
  };
  gzip.on('error', failed);
  out.on('error', failed);
  gzip.pipe(out);
  const writer = writerFor(log);
  const blocks = new BlockWriter(gzip);
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    count = 0;
    if (!failure) blocks.flush();
  };
  const write = (event: FlowEvent): void => {
    if (failure) return;
    blocks.add(writer.lines(event));
    if (++count >= FLUSH_EVERY) flush();
    else timer ??= setTimeout(flush, FLUSH_MS).unref();
  };
  if (log.firstSeq > 0) write(log.header);
  for (const event of log.events(0)) write(event);
  const stop = log.listen(write);
  return {
    file,
    close: () => {
      stop();
      flush();
      return new Promise((resolve, reject) => {
        const settle = (): void => (failure ? reject(new Error(`Cannot write the recording ${file}: ${failure.message}`)) : resolve());
        if (failure) return settle();
        out.once('close', settle);
        gzip.end();
      });
    },
  };
}

/** What is in memory of a log, as a recording. */
export function snapshotRecording(
  log: FlowLog,
  range: { readonly fromSeq: number; readonly toSeq: number } = { fromSeq: 0, toSeq: log.lastSeq },
): FlowRecording {
  const events = log.events(range.fromSeq, range.toSeq).filter((event) => event.type !== 'header');
  const bodies = new Map<string, string>();
  for (const event of events) {
    for (const { hash } of bodyRefs(event)) {
      const text = log.bodies.get(hash);
      if (text !== undefined) bodies.set(hash, text);
    }
  }
  return { header: log.header, events, bodies, graphs: log.graphs, warnings: [] };
}

/** A recording as the bytes of a `*.flow.jsonl.gz` file. */
export function encodeRecording(recording: FlowRecording): Buffer {
  return gzipSync(flowText(recording), { level: 9 });
}

/** Reads the bytes of a recording, gzipped or not. A file that was cut short or damaged opens with a warning. */
export function decodeRecording(file: Buffer): FlowRecording {
  return parseUnpacked(unpack(file));
}

/** The recording in a file's bytes, and what was wrong with their packing among its warnings. */
export function parseUnpacked({ bytes, warnings }: Unpacked): FlowRecording {
  const recording = parseFlowText(bytes.toString('utf8'));
  return { ...recording, warnings: [...warnings, ...recording.warnings] };
}

/** Opens a recording file. Throws an error that names the file when it is none. */
export function readRecording(file: string): FlowRecording {
  try {
    return decodeRecording(readFileSync(file));
  } catch (error) {
    throw new Error(`Cannot open the recording ${file}: ${messageOf(error)}`, { cause: error });
  }
}

function writerFor(log: FlowLog): FlowTextWriter {
  return new FlowTextWriter({
    bodyOf: (hash) => log.bodies.get(hash),
    graphOf: (id) => log.graphs.find((graph) => graph.id === id),
  });
}
