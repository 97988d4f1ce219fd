import type { Redactor } from './redact.js';

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
 */
export function capture(value: unknown, redactor: Redactor, limits: CaptureLimits = LIGHT_LIMITS): Captured {
  const walk = new Walk(redactor, limits);
  let plain: unknown;
  try {
    plain = walk.visit(value, '$', 0, undefined);
  } catch {
    plain = '‹unreadable›';
  }
  return { text: JSON.stringify(plain) ?? 'null', clipped: walk.clipped };
}

class Walk {
  clipped = false;
  #nodes = 0;
  #chars = 0;
  readonly #open = new Map<object, string>();
  readonly #done = new Map<object, { readonly path: string; readonly nodes: number }>();

  constructor(
    readonly redactor: Redactor,
    readonly limits: CaptureLimits,
  ) {}

  visit(value: unknown, path: string, depth: number, secretKey: string | undefined): unknown {
    this.#nodes++;
    switch (typeof value) {
      case 'string':
        return secretKey !== undefined && value !== '' ? this.redactor.mark('key-name', value) : this.#string(value, path);
      case 'number':
        if (secretKey !== undefined) return this.redactor.mark('key-name', String(value));
        return Number.isFinite(value) ? value : `‹${value}›`;
      case 'boolean':
        return value;
      case 'undefined':
        return undefined;
      case 'bigint':
        return `‹bigint ${value}›`;
      case 'symbol':
        return `‹${String(value)}›`;
      case 'function':
        return '‹function›';
      default:
        return typeof value === 'object' && value !== null ? this.#object(value, path, depth, secretKey) : null;
    }
  }

  #string(text: string, path: string): string {
    const room = Math.min(this.limits.stringChars, Math.max(0, this.limits.totalChars - this.#chars));
    if (text.length <= room) {
      this.#chars += text.length;
      return this.redactor.text(text, path);
    }
    this.clipped = true;
    this.#chars += room;
    const masked = this.redactor.text(text.slice(0, room + CLIP_OVERLAP), path);
    const mark = masked.lastIndexOf('‹redacted', room);
    const cut = mark >= 0 && masked.indexOf('›', mark) >= room ? mark : room;
    return `${masked.slice(0, cut)}‹clipped, ${text.length} characters in all›`;
  }

  #object(value: object, path: string, depth: number, secretKey: string | undefined): unknown {
    const opened = this.#open.get(value);
    if (opened !== undefined) return `‹cycle to ${opened}›`;
    const seen = this.#done.get(value);
    if (seen && seen.nodes > REPEATABLE_NODES) return `‹same as ${seen.path}›`;
    if (depth >= this.limits.depth) return this.#cut('‹too deep›');
    if (this.#nodes >= this.limits.nodes) return this.#cut('‹too much›');
    const before = this.#nodes;
    this.#open.set(value, path);
    try {
      return this.#contents(value, path, depth, secretKey);
    } catch {
      return '‹unreadable›';
    } finally {
      this.#open.delete(value);
      this.#done.set(value, { path, nodes: this.#nodes - before });
    }
  }

  #contents(value: object, path: string, depth: number, secretKey: string | undefined): unknown {
    if (Array.isArray(value)) return this.#list(value, path, depth, secretKey);
    if (value instanceof Map) return { '‹Map›': this.#list([...Map.prototype.entries.call(value)], path, depth, secretKey) };
    if (value instanceof Set) return { '‹Set›': this.#list([...Set.prototype.values.call(value)], path, depth, secretKey) };
    if (value instanceof Date)
      return Number.isNaN(Date.prototype.getTime.call(value)) ? '‹invalid date›' : Date.prototype.toISOString.call(value);
    if (value instanceof Error) return this.#error(value, path);
    if (ArrayBuffer.isView(value)) return `‹${className(value)} of ${value.byteLength} bytes›`;
    const proto: unknown = Object.getPrototypeOf(value);
    if (proto !== Object.prototype && proto !== null) return `‹${className(value)}›`;
    return this.#record(value, path, depth, secretKey);
  }

  #list(list: readonly unknown[], path: string, depth: number, secretKey: string | undefined): unknown[] {
    const out: unknown[] = [];
    const count = Math.min(list.length, this.limits.keys);
    for (let index = 0; index < count && this.#nodes < this.limits.nodes; index++) {
      const item = Object.getOwnPropertyDescriptor(list, index);
      out.push(item === undefined ? null : (this.#property(item, `${path}[${index}]`, depth, secretKey) ?? null));
    }
    if (out.length < list.length) out.push(this.#cut(`‹${list.length - out.length} more›`));
    return out;
  }

  #record(value: object, path: string, depth: number, secretKey: string | undefined): Record<string, unknown> {
    // No prototype: a key named __proto__ stays data.
    const out: Record<string, unknown> = Object.create(null);
    const keys = Object.keys(value);
    let taken = 0;
    for (const key of keys) {
      if (taken >= this.limits.keys || this.#nodes >= this.limits.nodes) break;
      taken++;
      const descriptor = Object.getOwnPropertyDescriptor(value, key);
      if (!descriptor) continue;
      const secret = secretKey ?? (this.redactor.isSecretKey(key) ? key : undefined);
      out[this.#string(key, path)] = this.#property(descriptor, `${path}.${key}`, depth, secret);
    }
    if (taken < keys.length) out['‹more›'] = this.#cut(`‹${keys.length - taken} more keys›`);
    return out;
  }

  #property(descriptor: PropertyDescriptor, path: string, depth: number, secretKey: string | undefined): unknown {
    return 'value' in descriptor ? this.visit(descriptor.value, path, depth + 1, secretKey) : '‹getter›';
  }

  #error(error: Error, path: string): unknown {
    const field = (key: string): unknown => {
      for (let at: unknown = error; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at)) {
        const descriptor = Object.getOwnPropertyDescriptor(at, key);
        if (descriptor) return 'value' in descriptor ? descriptor.value : undefined;
      }
      return undefined;
    };
    const text = (key: string): string | undefined => {
      const value = field(key);
      return typeof value === 'string' ? this.#string(value, `${path}.${key}`) : undefined;
    };
    return { '‹Error›': text('name') ?? 'Error', message: text('message') ?? '', stack: text('stack') };
  }

  #cut(mark: string): string {
    this.clipped = true;
    return mark;
  }
}

function className(value: object): string {
  const proto: unknown = Object.getPrototypeOf(value);
  if (typeof proto !== 'object' || proto === null) return 'object';
  const descriptor = Object.getOwnPropertyDescriptor(proto, 'constructor');
  const made: unknown = descriptor && 'value' in descriptor ? descriptor.value : undefined;
  return typeof made === 'function' && made.name ? made.name : 'object';
}
