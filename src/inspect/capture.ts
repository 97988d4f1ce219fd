import { type CapturedKey, capturedKey, type Redactor } from './redact.js';

/** Caps of one capture. What is cut is named in its place. */
export interface CaptureLimits {
  readonly depth: number;
  readonly keys: number;
  /** Values in all, so that width times depth stays bounded. */
  readonly nodes: number;
  /** Characters of one string. */
  readonly stringChars: number;
  /** Characters of all strings together. */
  readonly totalChars: number;
}
/** For contexts and events: their cost must not grow with what tools print. */
export const LIGHT_LIMITS: CaptureLimits = { depth: 12, keys: 1000, nodes: 5000, stringChars: 4096, totalChars: 64 * 1024 };
/** For inputs and results, which people open to read. */
export const FULL_LIMITS: CaptureLimits = { depth: 12, keys: 10_000, nodes: 200_000, stringChars: 8 << 20, totalChars: 16 << 20 };

/** A small subtree that is reached twice is shown twice; a larger one is named by its first place. */
const REPEATABLE_NODES = 64;
/** Scanned beyond a clip, so that a secret lying across it is found whole. */
const CLIP_OVERLAP = 512;

export interface Captured {
  readonly text: string;
  readonly clipped: boolean;
}

/**
 * Redacted JSON text of any value. Runs no code of the value: getters, `toJSON` and proxies' traps that throw cannot
 * reach the caller; functions, actors, signals and other live objects are named, not walked.
 *
 * The text is written in one pass, with no copy of the value in between: this runs for every event and context of a flow.
 */
export function capture(value: unknown, redactor: Redactor, limits: CaptureLimits = LIGHT_LIMITS): Captured {
  const walk = new Walk(redactor, limits);
  let text: string | undefined;
  try {
    text = walk.visit(value, false);
  } catch {
    text = UNREADABLE;
  }
  return { text: text ?? 'null', clipped: walk.clipped };
}

const UNREADABLE = '"‹unreadable›"';
const { getOwnPropertyDescriptor, getPrototypeOf, keys: keysOf } = Object;

class Walk {
  clipped = false;
  #nodes = 0;
  #chars = 0;
  /** The objects that are being written, outermost first, and in each the key or index that is; together they are the path. */
  readonly #open: object[] = [];
  readonly #at: (string | number)[] = [];
  /** Objects too large to be written twice, by the path of their first place. */
  #large: Map<object, string> | undefined;

  constructor(
    readonly redactor: Redactor,
    readonly limits: CaptureLimits,
  ) {}

  /** JSON text of a value; undefined for undefined. `secret`: it stands under a name that makes all strings and numbers secrets. */
  visit(value: unknown, secret: boolean): string | undefined {
    this.#nodes++;
    switch (typeof value) {
      case 'string':
        return secret && value !== '' ? this.#secret(value) : this.#string(value);
      case 'number':
        if (secret) return this.#secret(String(value));
        return Number.isFinite(value) ? String(value) : `"‹${value}›"`;
      case 'boolean':
        return value ? 'true' : 'false';
      case 'undefined':
        return undefined;
      case 'bigint':
        return `"‹bigint ${value}›"`;
      case 'symbol':
        return JSON.stringify(`‹${String(value)}›`);
      case 'function':
        return '"‹function›"';
      default:
        return typeof value === 'object' && value !== null ? this.#object(value, secret) : 'null';
    }
  }

  #secret(secret: string): string {
    return JSON.stringify(this.redactor.mark('key-name', secret));
  }

  /** `depth`: how much of the path leads to it; the name of a field stands in its object, not in the field. */
  #string(text: string, depth = this.#open.length): string {
    const { limits, redactor } = this;
    const room = Math.min(limits.stringChars, Math.max(0, limits.totalChars - this.#chars));
    if (text.length <= room) {
      this.#chars += text.length;
      return redactor.hasCustomRules ? redactor.json(text, this.#path(depth)) : redactor.json(text);
    }
    this.clipped = true;
    this.#chars += room;
    const masked = redactor.text(text.slice(0, room + CLIP_OVERLAP), this.#path(depth));
    const mark = masked.lastIndexOf('‹redacted', room);
    const cut = mark >= 0 && masked.indexOf('›', mark) >= room ? mark : room;
    return JSON.stringify(`${masked.slice(0, cut)}‹clipped, ${text.length} characters in all›`);
  }

  #path(depth = this.#open.length): string {
    let path = '$';
    for (let index = 0; index < depth; index++) {
      const at = this.#at[index];
      if (at !== undefined) path += typeof at === 'number' ? `[${at}]` : `.${at}`;
    }
    return path;
  }

  #object(value: object, secret: boolean): string {
    const open = this.#open;
    const depth = open.length;
    const around = open.indexOf(value);
    if (around >= 0) return JSON.stringify(`‹cycle to ${this.#path(around)}›`);
    const seen = this.#large?.get(value);
    if (seen !== undefined) return JSON.stringify(`‹same as ${seen}›`);
    if (depth >= this.limits.depth) return this.#cut('‹too deep›');
    if (this.#nodes >= this.limits.nodes) return this.#cut('‹too much›');
    const before = this.#nodes;
    open.push(value);
    this.#at[depth] = '';
    let json: string;
    try {
      json = this.#contents(value, secret);
    } catch {
      json = UNREADABLE;
    }
    open.pop();
    if (this.#nodes - before > REPEATABLE_NODES) {
      this.#large ??= new Map();
      this.#large.set(value, this.#path());
    }
    return json;
  }

  #contents(value: object, secret: boolean): string {
    if (Array.isArray(value)) return this.#list(value, secret);
    const proto: unknown = getPrototypeOf(value);
    if (proto === Object.prototype || proto === null) return this.#record(value, secret);
    if (value instanceof Map) return `{"‹Map›":${this.#list([...Map.prototype.entries.call(value)], secret)}}`;
    if (value instanceof Set) return `{"‹Set›":${this.#list([...Set.prototype.values.call(value)], secret)}}`;
    if (value instanceof Date)
      return Number.isNaN(Date.prototype.getTime.call(value)) ? '"‹invalid date›"' : `"${Date.prototype.toISOString.call(value)}"`;
    if (value instanceof Error) return this.#error(value);
    if (ArrayBuffer.isView(value)) return JSON.stringify(`‹${className(value)} of ${value.byteLength} bytes›`);
    return JSON.stringify(`‹${className(value)}›`);
  }

  #list(list: readonly unknown[], secret: boolean): string {
    const depth = this.#open.length - 1;
    const count = Math.min(list.length, this.limits.keys);
    let text = '';
    let index = 0;
    for (; index < count && this.#nodes < this.limits.nodes; index++) {
      this.#at[depth] = index;
      const item = getOwnPropertyDescriptor(list, index);
      const json = item === undefined ? 'null' : (this.#property(item, secret) ?? 'null');
      if (index > 0) text += ',';
      text += json;
    }
    if (index < list.length) text += `${index === 0 ? '' : ','}${this.#cut(`‹${list.length - index} more›`)}`;
    return `[${text}]`;
  }

  #record(value: object, secret: boolean): string {
    const { limits } = this;
    const depth = this.#open.length - 1;
    const keys = keysOf(value);
    let text = '';
    let taken = 0;
    for (const key of keys) {
      if (taken >= limits.keys || this.#nodes >= limits.nodes) break;
      taken++;
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (!descriptor) continue;
      const name = this.#key(key, depth);
      this.#at[depth] = key;
      const json = this.#property(descriptor, secret || name.secret);
      if (json === undefined) continue;
      text += text === '' ? name.first : name.later;
      text += json;
    }
    if (taken < keys.length) text += `${text === '' ? '' : ','}"‹more›":${this.#cut(`‹${keys.length - taken} more keys›`)}`;
    return `{${text}}`;
  }

  #key(key: string, depth: number): CapturedKey {
    const { redactor, limits } = this;
    const clipped = key.length > limits.stringChars || key.length > limits.totalChars - this.#chars;
    if (clipped) return capturedKey(this.#string(key, depth), redactor.isSecretKey(key));
    this.#chars += key.length;
    return redactor.hasCustomRules ? redactor.key(key, this.#path(depth)) : redactor.key(key);
  }

  #property(descriptor: PropertyDescriptor, secret: boolean): string | undefined {
    return 'value' in descriptor ? this.visit(descriptor.value, secret) : '"‹getter›"';
  }

  #error(error: Error): string {
    const field = (key: string): string | undefined => {
      for (let at: unknown = error; typeof at === 'object' && at !== null; at = getPrototypeOf(at)) {
        const descriptor = getOwnPropertyDescriptor(at, key);
        if (!descriptor) continue;
        if (typeof descriptor.value !== 'string') return undefined;
        this.#at[this.#open.length - 1] = key;
        return this.#string(descriptor.value);
      }
      return undefined;
    };
    const name = field('name') ?? '"Error"';
    const message = field('message') ?? '""';
    const stack = field('stack');
    return `{"‹Error›":${name},"message":${message}${stack === undefined ? '' : `,"stack":${stack}`}}`;
  }

  #cut(mark: string): string {
    this.clipped = true;
    return `"${mark}"`;
  }
}

function className(value: object): string {
  const proto: unknown = Object.getPrototypeOf(value);
  if (typeof proto !== 'object' || proto === null) return 'object';
  const descriptor = Object.getOwnPropertyDescriptor(proto, 'constructor');
  const made: unknown = descriptor && 'value' in descriptor ? descriptor.value : undefined;
  return typeof made === 'function' && made.name ? made.name : 'object';
}
