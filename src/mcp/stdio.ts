import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { own } from '../hooks/process-group.js';
import { errorCode, messageOf } from '../tool/errors.js';
import { COMMAND_ID_VARIABLE, endProcesses } from '../tools/bash/process-tree.js';
import { LineBuffer } from './line-buffer.js';
import { readWire } from './wire.js';

export interface StdioSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** What keeps a program from being started, in words that say where to mend it. */
function startProblem({ command, cwd }: StdioSpec, error: unknown): string {
  const said = messageOf(error);
  if (!existsSync(cwd)) return `the working directory ${cwd} does not exist`;
  return errorCode(error) === 'ENOENT' && /\s/.test(command)
    ? `${said}: \`command\` is the program alone; what follows it belongs into \`args\``
    : said;
}

/** Bytes of one line of standard output. The SDK's own limit. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** Bytes of standard error that are kept: its end says why a server died. */
const STDERR_TAIL_BYTES = 4_096;
/** How long a server may take to leave by itself once its standard input is closed. */
const LEAVE_MS = 500;

/**
 * Speaks to a server over its standard input and output. Unlike the SDK's transport the server leads a process group of its own, so
 * that a server started through `npx` or a shell is ended whole; and its standard error is kept for the report of its death.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  private readonly lines = new LineBuffer(MAX_LINE_BYTES);
  private readonly commandId = randomUUID();
  private child: ChildProcess | undefined;
  private tail = Buffer.alloc(0);
  private ended: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | undefined;
  private closing: Promise<void> | undefined;
  /** Why this side ended the connection, where it did. */
  private complaint = '';

  constructor(private readonly spec: StdioSpec) {}

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.spec;
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, [COMMAND_ID_VARIABLE]: this.commandId },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.child = child;
    const disown = own(child);
    child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    // Nothing can be answered any more, though the process may live on.
    child.stdout.once('end', () => void this.close());
    child.stderr.on('data', (chunk: Buffer) => {
      this.tail = Buffer.concat([this.tail, chunk]).subarray(-STDERR_TAIL_BYTES);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.once('close', (code, signal) => {
      disown();
      this.ended = { code, signal };
      this.onclose?.();
    });
    child.on('error', (error) => this.onerror?.(error));
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw new Error(startProblem(this.spec, error), { cause: error });
    }
  }

  /** Resolves when the message is written whole; a message is one write, so it is never sent in half. */
  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin;
    if (!stdin || this.ended || stdin.writableEnded) return Promise.reject(new Error('The server is not running.'));
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => {
        if (!error) resolve();
        // A pipe that breaks is a server that dies: how it died is known a moment later.
        else void this.gone(LEAVE_MS).then(() => reject(error));
      });
    });
  }

  /** Closes the server's standard input, waits a moment, then ends its whole process group. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** What is known of a server that is gone or silent: how it ended, and the end of its standard error. */
  get lastWords(): string {
    const text = this.tail.toString('utf8').trim();
    const how =
      this.ended === undefined
        ? ''
        : this.ended.signal === null
          ? `it exited with code ${this.ended.code}`
          : `it was ended by ${this.ended.signal}`;
    return [this.complaint, how, text === '' ? '' : `its standard error ends with: ${text}`].filter(Boolean).join('; ');
  }

  private async end(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    await this.gone(LEAVE_MS);
    if (process.platform === 'win32') child.kill();
    else await endProcesses({ groupId: child.pid, commandId: this.commandId });
  }

  /** Resolves when the server has exited and its output is read, or after a while. */
  private async gone(limitMs: number): Promise<void> {
    if (this.ended || !this.child) return;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([once(this.child, 'close'), limit]);
    clearTimeout(timer);
  }

  private read(chunk: Buffer): void {
    let lines: readonly string[];
    try {
      lines = this.lines.take(chunk);
    } catch (error) {
      this.complaint = messageOf(error);
      this.fail(error);
      void this.close();
      return;
    }
    for (const line of lines.map((text) => text.trim()).filter((text) => text !== '')) {
      try {
        const messages = readWire(JSON.parse(line));
        if (messages === undefined) throw new Error(`what came is not a message: ${line.slice(0, 200)}`);
        for (const message of messages) this.onmessage?.(message);
      } catch (error) {
        // A line that is no message (a log line gone astray) costs itself, not the connection.
        this.fail(error);
      }
    }
  }

  private fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
