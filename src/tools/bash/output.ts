import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../makeDirectory.js';
import { characterBoundary } from '../../results/text.js';
import { messageOf } from '../../tool/errors.js';

export type StreamName = 'stdout' | 'stderr';

/** Bytes of output that are kept in memory whole; beyond, everything goes to the file and only both ends stay. */
const MEMORY_BYTES = 128 * 1024;
/** Bytes kept of each end of a larger output. */
const END_BYTES = 8 * 1024;
/** Bytes waiting to be written at which the child's pipes are paused. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** Bytes that the file holds at most. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * The output of a command: both streams, each in order, in memory while it is small and in a file when it is not.
 * Memory stays bounded whatever the command writes; a character that arrives in pieces is put together again.
 */
export class CommandOutput {
  readonly filePath: string;
  readonly #chunks: { readonly stream: StreamName; readonly bytes: Buffer }[] = [];
  readonly #carry: Record<StreamName, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #total = 0;
  #kept = 0;
  #waiting = 0;
  #handle: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();
  #inFile = false;
  #failure: string | undefined;
  #sealed = false;

  constructor(filePath: string) {
    this.filePath = filePath;
  }

  /** Bytes that the command has written so far. */
  get totalBytes(): number {
    return this.#total;
  }
  /** Bytes that are in the file, or will be. */
  get keptBytes(): number {
    return this.#kept;
  }
  /** Why the file could not be written, if so. */
  get failure(): string | undefined {
    return this.#failure;
  }
  get isInFile(): boolean {
    return this.#inFile;
  }

  /** Takes a chunk. A promise that comes back is a request to send nothing until it resolves. */
  write(stream: StreamName, chunk: Buffer): Promise<void> | undefined {
    if (this.#sealed) return undefined;
    this.#total += chunk.length;
    const joined = this.#carry[stream].length === 0 ? chunk : Buffer.concat([this.#carry[stream], chunk]);
    const whole = joined.length - incompleteTail(joined);
    this.#carry[stream] = Buffer.from(joined.subarray(whole));
    this.#accept(stream, joined.subarray(0, whole));
    return this.#waiting > HIGH_WATER_BYTES ? this.#writing : undefined;
  }

  /** From here on everything, and what came before, is in the file. For tasks that others read while they run. */
  moveToFile(): Promise<void> {
    if (!this.#inFile) {
      this.#inFile = true;
      this.#writing = this.#writing.then(() => this.#open());
      for (const { bytes } of this.#chunks) this.#enqueue(bytes);
    }
    return this.#writing;
  }

  /** Ends the output: what comes later is not part of it. Resolves when the file is complete. */
  async seal(): Promise<void> {
    if (this.#sealed) return;
    for (const stream of ['stdout', 'stderr'] as const) {
      // A character that never became whole stays visible as what it is.
      this.#accept(stream, this.#carry[stream]);
    }
    this.#sealed = true;
    await this.#writing;
    await this.#handle?.close().catch((error: unknown) => this.#fail(error));
    this.#handle = undefined;
  }

  /** Writes the output to its file after all, sealed or not; for outputs that turn out too long to show. */
  async saveToFile(): Promise<void> {
    if (!this.#inFile) {
      await this.moveToFile();
      await this.#handle?.close().catch((error: unknown) => this.#fail(error));
      this.#handle = undefined;
    }
  }

  /** The whole text of a stream, or undefined when there was too much to keep. */
  text(stream: StreamName): string | undefined {
    if (this.#total > MEMORY_BYTES) return undefined;
    return decode(Buffer.concat(this.#chunks.filter((chunk) => chunk.stream === stream).map((chunk) => chunk.bytes)));
  }

  /** Start and end of both streams in order of arrival. */
  ends(): { readonly head: string; readonly tail: string; readonly headBytes: Buffer } {
    const all = this.#total > MEMORY_BYTES ? undefined : Buffer.concat(this.#chunks.map((chunk) => chunk.bytes));
    const head = all?.subarray(0, END_BYTES) ?? this.#head;
    const tail = all?.subarray(-END_BYTES) ?? this.#tail;
    return { head: decode(head.subarray(0, boundaryBefore(head))), tail: decode(tail.subarray(firstWhole(tail))), headBytes: head };
  }

  #accept(stream: StreamName, bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#total <= MEMORY_BYTES) {
      this.#chunks.push({ stream, bytes });
      if (this.#inFile) this.#enqueue(bytes);
      return;
    }
    if (this.#head.length === 0) {
      void this.moveToFile();
      const before = Buffer.concat(this.#chunks.map((chunk) => chunk.bytes));
      this.#chunks.length = 0;
      this.#head = Buffer.from(Buffer.concat([before, bytes]).subarray(0, END_BYTES));
      this.#tail = Buffer.from(before.subarray(-END_BYTES));
    }
    this.#tail = Buffer.from(
      bytes.length >= END_BYTES ? bytes.subarray(-END_BYTES) : Buffer.concat([this.#tail, bytes]).subarray(-END_BYTES),
    );
    this.#enqueue(bytes);
  }

  #enqueue(bytes: Buffer): void {
    const room = MAX_FILE_BYTES - this.#kept;
    if (room <= 0 || this.#failure !== undefined) return;
    const part = bytes.length <= room ? bytes : bytes.subarray(0, characterBoundary(bytes, room));
    // A cut character ends the file: what follows would not join on.
    this.#kept = bytes.length <= room ? this.#kept + part.length : MAX_FILE_BYTES;
    this.#waiting += part.length;
    this.#writing = this.#writing.then(async () => {
      try {
        await this.#handle?.write(part);
      } catch (error) {
        this.#fail(error);
      } finally {
        this.#waiting -= part.length;
      }
    });
  }

  async #open(): Promise<void> {
    try {
      await makeDirectory(path.dirname(this.filePath), 0o700);
      this.#handle = await open(this.filePath, 'w', 0o600);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= messageOf(error);
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** How many bytes at the end are the start of a UTF-8 character whose rest has not come yet. */
function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
function boundaryBefore(bytes: Buffer): number {
  return bytes.length - incompleteTail(bytes);
}
/** Where the first whole character starts in bytes that were cut at the front. */
function firstWhole(bytes: Buffer): number {
  let at = 0;
  while (at < Math.min(3, bytes.length) && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}
