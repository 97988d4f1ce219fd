import type { CapturedKey, Redactor } from './redact.js';

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

/** A field of a record as it was written the last time. */
export interface CapturedField {
  readonly key: string;
  readonly value: unknown;
  /** `"key":value`; empty for undefined. */
  readonly json: string;
  readonly nodes: number;
  readonly chars: number;
  /** Objects in it that are too large to be written twice. */
  readonly large: readonly (readonly [object, string])[];
}
export interface CapturedRecord extends Captured {
  /** For the next capture of the same record; undefined when nothing of it may be used again. */
  readonly fields: readonly CapturedField[] | undefined;
}

/**
 * As {@link capture}, for a record that replaces an earlier one, as an actor's context does: a field whose value is the same one as
 * before is not walked again. What was changed inside a value that stayed the same one is therefore not seen.
 */
export function captureRecord(
  value: unknown,
  redactor: Redactor,
  before: readonly CapturedField[] | undefined,
  limits: CaptureLimits = LIGHT_LIMITS,
): CapturedRecord {
  // A rule of one's own may answer differently each time.
  const record = redactor.hasCustomRules ? undefined : new Walk(redactor, limits).record(value, before);
  return record ?? { ...capture(value, redactor, limits), fields: undefined };
}

const NONE_LARGE: CapturedField['large'] = [];
const UNREADABLE = '"‹unreadable›"';
const { getOwnPropertyDescriptor, getPrototypeOf, keys: keysOf } = Object;

class Walk {
  clipped = false;
  #nodes = 0;
  #chars = 0;
  /** The objects that are being written, outermost first, and in each the key or index that is; together they are the path. */
  readonly #open: object[] = [];
  readonly #at: (string | number)[] = [];
  /** Marks that name another place of the value. */
  #references = 0;
  /** Objects too large to be written twice, by the path of their first place. */
  #large: Map<object, string> | undefined;

  constructor(
    readonly redactor: Redactor,
    readonly limits: CaptureLimits,
  ) {}

  /** A plain record, with the fields of the earlier one that are the same. Undefined when it must be captured as a whole. */
  record(value: unknown, before: readonly CapturedField[] | undefined): CapturedRecord | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    try {
      if (Array.isArray(value) || getPrototypeOf(value) !== Object.prototype) return undefined;
      this.#nodes = 1;
      this.#open.push(value);
      const fields: CapturedField[] = [];
      let text = '';
      for (const key of keysOf(value)) {
        const descriptor = getOwnPropertyDescriptor(value, key);
        if (!descriptor || fields.length >= this.limits.keys) return undefined;
        const known = before?.[fields.length];
        const same = known !== undefined && known.key === key && 'value' in descriptor && Object.is(descriptor.value, known.value);
        const field = same ? this.#again(known) : this.#field(key, descriptor);
        fields.push(field);
        if (field.json !== '') text += text === '' ? field.json : `,${field.json}`;
      }
      const { nodes, totalChars } = this.limits;
      if (this.clipped || this.#references > 0 || this.#nodes >= nodes || this.#chars > totalChars) return undefined;
      return { text: `{${text}}`, clipped: false, fields };
    } catch {
      return undefined;
    }
  }

  #again(field: CapturedField): CapturedField {
    this.#nodes += field.nodes;
    this.#chars += field.chars;
    for (const [value, path] of field.large) {
      this.#large ??= new Map();
      // Met before it this time, so that it would be but a mark here.
      if (this.#large.has(value)) this.#references++;
      this.#large.set(value, path);
    }
    return field;
  }

  #field(key: string, descriptor: PropertyDescriptor): CapturedField {
    const [nodes, chars, large] = [this.#nodes, this.#chars, this.#large?.size ?? 0];
    const name = this.#key(key, 0);
    this.#at[0] = key;
    const json = this.#property(descriptor, name.secret);
    return {
      key,
      value: descriptor.value,
      json: json === undefined ? '' : `${name.json}:${json}`,
      nodes: this.#nodes - nodes,
      chars: this.#chars - chars,
      large: this.#large === undefined || this.#large.size === large ? NONE_LARGE : [...this.#large].slice(large),
    };
  }

  /** JSON text of a value; undefined for undefined. `secret`: it stands under a name that makes all strings and numbers secrets. */
  visit(value: unknown, secret: boolean): string | undefined {
    this.#nodes++;
    switch (typeof value) {
      case 'string':
        return secret && value !== '' ? this.#mark(value) : this.#string(value);
      case 'number':
        if (secret) return this.#mark(String(value));
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

  #mark(secret: string): string {
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
    if (around >= 0) return this.#reference(`‹cycle to ${this.#path(around)}›`);
    const seen = this.#large?.get(value);
    if (seen !== undefined) return this.#reference(`‹same as ${seen}›`);
    if (depth >= this.limits.depth) return this.#cut('‹too deep›');
    if (this.#nodes >= this.limits.nodes) return this.#cut('‹too much›');
    const before = this.#nodes;
    open.push(value);
    this.#at[depth] = '';
    try {
      return this.#contents(value, secret);
    } catch {
      return UNREADABLE;
    } finally {
      open.length = depth;
      if (this.#nodes - before > REPEATABLE_NODES) {
        this.#large ??= new Map();
        this.#large.set(value, this.#path());
      }
    }
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
      text += index === 0 ? json : `,${json}`;
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
      if (json !== undefined) text += text === '' ? `${name.json}:${json}` : `,${name.json}:${json}`;
    }
    if (taken < keys.length) text += `${text === '' ? '' : ','}"‹more›":${this.#cut(`‹${keys.length - taken} more keys›`)}`;
    return `{${text}}`;
  }

  #key(key: string, depth: number): CapturedKey {
    const { redactor, limits } = this;
    const clipped = key.length > limits.stringChars || key.length > limits.totalChars - this.#chars;
    if (clipped) return { json: this.#string(key, depth), secret: redactor.isSecretKey(key) };
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

  #reference(mark: string): string {
    this.#references++;
    return JSON.stringify(mark);
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
