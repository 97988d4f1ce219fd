import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { messageOf, ToolAbortedError, ToolFailure } from '../../tool/errors.js';
import { FrameReader, frame } from './framing.js';

/** A language server that the tool may start. */
export interface LanguageServerConfig {
  /** The program, looked up on the `PATH` unless it is a path. */
  readonly command: string;
  /** Its arguments, such as `--stdio`. */
  readonly args: readonly string[];
  /** Language id by file extension, such as `{ '.ts': 'typescript' }`. */
  readonly languages: Readonly<Record<string, string>>;
}

interface Waiting {
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (error: Error) => void;
}

const REQUEST_MS = 30_000;
const IDLE_MS = 5 * 60_000;

/** One language server process over stdio, started on first use and ended when it has been idle for five minutes. */
export class LanguageServer {
  readonly #config: LanguageServerConfig;
  readonly #root: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #documents = new Map<string, { readonly version: number; readonly text: string }>();
  /** By path: servers write a file's URI in other ways than ours. */
  readonly #published = new Map<string, JsonValue>();
  #child: ChildProcess | undefined;
  #ready: Promise<JsonObject> | undefined;
  #nextId = 1;
  #idle: NodeJS.Timeout | undefined;
  #stderr = '';

  constructor(config: LanguageServerConfig, root: string, env: Readonly<Record<string, string | undefined>>) {
    this.#config = config;
    this.#root = root;
    this.#env = env;
  }

  /** The server's capabilities; starts it if it does not run. */
  ready(signal: AbortSignal): Promise<JsonObject> {
    this.#ready ??= this.#start(signal).catch((error: unknown) => {
      this.dispose();
      throw new ToolFailure(
        `The language server ${this.#config.command} could not be started: ${messageOf(error)}${this.#stderr === '' ? '' : `\n${this.#stderr.trim()}`}`,
      );
    });
    return this.#ready;
  }

  async request(method: string, params: JsonValue, signal: AbortSignal): Promise<JsonValue> {
    await this.ready(signal);
    return this.#send(method, params, signal);
  }

  /** Shows the server the file as it is now, and returns its URI. */
  async open(file: string, signal: AbortSignal): Promise<string> {
    await this.ready(signal);
    const uri = pathToFileURL(file).href;
    const text = await readFile(file, 'utf8');
    const known = this.#documents.get(uri);
    if (known?.text === text) return uri;
    const version = (known?.version ?? 0) + 1;
    this.#published.delete(file);
    if (known === undefined) {
      const languageId = this.#config.languages[path.extname(file)] ?? 'plaintext';
      this.#notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } });
    } else {
      this.#notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] });
    }
    this.#documents.set(uri, { version, text });
    return uri;
  }

  /**
   * Diagnostics of an open file: asked for where the server answers that, else the ones it publishes within `waitMs`; undefined when
   * it has said nothing by then.
   */
  async diagnostics(file: string, signal: AbortSignal, waitMs = 3000): Promise<JsonValue | undefined> {
    const capabilities = await this.ready(signal);
    if (capabilities.diagnosticProvider !== undefined) {
      const report = await this.#send('textDocument/diagnostic', { textDocument: { uri: pathToFileURL(file).href } }, signal);
      return isJsonObject(report) ? (report.items ?? []) : [];
    }
    for (let waited = 0; waited < waitMs && !this.#published.has(file) && !signal.aborted; waited += 50) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return this.#published.get(file);
  }

  dispose(): void {
    clearTimeout(this.#idle);
    this.#child?.kill();
    this.#child = undefined;
    this.#ready = undefined;
    this.#documents.clear();
    for (const { reject } of this.#waiting.values()) reject(new ToolFailure(`The language server ${this.#config.command} has ended.`));
    this.#waiting.clear();
  }

  async #start(signal: AbortSignal): Promise<JsonObject> {
    const child = spawn(this.#config.command, [...this.#config.args], {
      cwd: this.#root,
      env: { ...this.#env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    const reader = new FrameReader();
    const failed = new Promise<never>((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => {
        reject(new Error(`it exited with code ${code}`));
        if (this.#child === child) this.dispose();
      });
    });
    failed.catch(() => undefined);
    child.stdin.on('error', () => undefined);
    child.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-2000);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        for (const message of reader.push(chunk)) this.#receive(message);
      } catch (error) {
        this.#stderr = messageOf(error);
        this.dispose();
      }
    });
    // A server that idles must not keep the program alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr])
      if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
    const rootUri = pathToFileURL(this.#root).href;
    const result = await Promise.race([
      failed,
      this.#send(
        'initialize',
        { processId: process.pid, rootUri, workspaceFolders: [{ uri: rootUri, name: path.basename(this.#root) }], capabilities: CLIENT },
        signal,
      ),
    ]);
    this.#notify('initialized', {});
    const capabilities = isJsonObject(result) ? result.capabilities : undefined;
    return isJsonObject(capabilities) ? capabilities : {};
  }

  #send(method: string, params: JsonValue, signal: AbortSignal): Promise<JsonValue> {
    const id = this.#nextId++;
    if (signal.aborted) return Promise.reject(stopped(signal));
    this.#child?.ref();
    clearTimeout(this.#idle);
    return new Promise<JsonValue>((resolve, reject) => {
      // Every end gives the place up: a request that is waited for keeps the server, and this process, alive.
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(id);
        this.#rest();
      };
      const fail = (error: Error): void => {
        settle();
        reject(error);
      };
      const timer = setTimeout(() => fail(new ToolFailure(`${method} had no answer within ${REQUEST_MS / 1000} s.`)), REQUEST_MS);
      const abort = (): void => {
        this.#notify('$/cancelRequest', { id });
        fail(stopped(signal));
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.set(id, {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: fail,
      });
      this.#write({ id, method, params });
    });
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#child?.unref();
    this.#idle = setTimeout(() => this.dispose(), IDLE_MS);
    this.#idle.unref();
  }

  #notify(method: string, params: JsonValue): void {
    this.#write({ method, params });
  }

  #write(message: JsonObject): void {
    if (this.#child?.stdin?.writable === true) this.#child.stdin.write(frame(message));
  }

  #receiveDiagnostics(uri: string, { diagnostics, version }: JsonObject): void {
    const file = filePathOf(uri);
    if (file === undefined) return;
    // What a server says late of an older text is not about the file as it is now.
    const shown = this.#documents.get(pathToFileURL(file).href)?.version;
    if (typeof version === 'number' && shown !== undefined && version < shown) return;
    this.#published.set(file, diagnostics ?? []);
  }

  #receive(message: JsonObject): void {
    const { id, method, params } = message;
    if (typeof method === 'string') {
      if (method === 'textDocument/publishDiagnostics' && isJsonObject(params) && typeof params.uri === 'string') {
        this.#receiveDiagnostics(params.uri, params);
      }
      // Requests of the server: configuration it may do without, everything else is acknowledged.
      if (id !== undefined) {
        const items = isJsonObject(params) && Array.isArray(params.items) ? params.items : undefined;
        this.#write({ id, result: method === 'workspace/configuration' && items !== undefined ? items.map(() => null) : null });
      }
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    const { error } = message;
    if (isJsonObject(error)) waiting?.reject(new ToolFailure(`The language server refused: ${String(error.message)}`));
    else waiting?.resolve(message.result ?? null);
  }
}

const stopped = (signal: AbortSignal) => new ToolAbortedError(`The request was stopped (${String(signal.reason)}).`);

/** Undefined for what is no URI of a file on this machine. */
export function filePathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

const CLIENT: JsonObject = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    definition: { linkSupport: false },
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
    diagnostic: {},
    publishDiagnostics: {},
  },
  workspace: { configuration: true, workspaceFolders: true },
};
