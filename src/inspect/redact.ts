import { createHmac, randomBytes } from 'node:crypto';
import { RecentTexts } from './recentTexts.js';

/** A rule of one's own: gets a string and the path it stands at (`$.input.command`), returns what may be kept. */
export type CustomRule = (text: string, path: string) => string;

/** What is taken out of a flow before anyone sees it, beside what always is. */
export interface RedactionOptions {
  /** Environment whose secret-named values are masked wherever they occur. Default `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Run after the built-in rules. A rule that throws masks the whole string. */
  readonly rules?: readonly CustomRule[];
  /** Default: random, so that hashes of a short secret cannot be looked up. Fixed only in tests. */
  readonly salt?: string;
}

/** The name of a field, ready to be written. */
export interface CapturedKey {
  /** `"key":`, as the first field of an object and as a later one begins. */
  readonly first: string;
  readonly later: string;
  readonly secret: boolean;
}

export const capturedKey = (json: string, secret: boolean): CapturedKey => ({ first: `${json}:`, later: `,${json}:`, secret });

interface ShapeRule {
  readonly name: string;
  /** What every match holds. Looked for first, since most texts do not hold it and the pattern costs more. */
  readonly hint: RegExp;
  readonly pattern: RegExp;
  /** The capture group that is the secret; the whole match when absent. */
  readonly group?: number;
  readonly accept?: (match: string, secret: string) => boolean;
}

/** Values that are secrets by their shape, wherever they stand. Linear-time patterns only: they read output of strangers. */
const SHAPES: readonly ShapeRule[] = [
  {
    name: 'private-key',
    hint: /-----BEGIN/,
    pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  },
  { name: 'api-key', hint: /[spr]k[-_]/, pattern: /\b(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,80}\d)[A-Za-z0-9_-]{16,}/g },
  { name: 'github-token', hint: /gh[pousr]_|github_pat_/, pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})/g },
  { name: 'gitlab-token', hint: /glpat-/, pattern: /\bglpat-[A-Za-z0-9_-]{16,}/g },
  { name: 'npm-token', hint: /npm_/, pattern: /\bnpm_[A-Za-z0-9]{30,}/g },
  { name: 'slack-token', hint: /xox[abprs]-/, pattern: /\bxox[abprs]-[A-Za-z0-9-]{10,}/g },
  { name: 'aws-key', hint: /A[KS]IA/, pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g },
  { name: 'google-key', hint: /AIza/, pattern: /\bAIza[A-Za-z0-9_-]{30,}/g },
  { name: 'jwt', hint: /eyJ/, pattern: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g },
  {
    name: 'bearer',
    hint: /bearer|basic/i,
    pattern: /\b(?:bearer|basic)\s+(?=[A-Za-z._~+/-]{0,200}[0-9=])([A-Za-z0-9._~+/=-]{12,})/gi,
    group: 1,
  },
  {
    name: 'url-password',
    hint: /:\/\//,
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,200}:([^\s/@"']{1,400})@/gi,
    group: 1,
  },
  {
    name: 'assignment',
    hint: /passw|passphrase|secret|token|(?:api|access|private)[-_]?key/i,
    pattern:
      /(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)["'\\]{0,4}[ \t]{0,4}[=:][ \t]{0,4}["'\\]{0,4}([^\s"'\\,;&<>(){}[\]$‹›]{6,})/gi,
    group: 1,
    // `token = readToken` in a program is no secret; `token = "…"` and anything with a digit may be one.
    accept: (match, secret) => /["'\\]/.test(match) || /[^A-Za-z_.]/.test(secret),
  },
];
/** One look instead of twelve: a text without any hint has no secret of any shape. */
const ANY_HINT = new RegExp(SHAPES.map(({ hint }) => hint.source).join('|'), 'i');

const SECRET_KEY =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookies?|pass(?:word|wd|phrase)?|credentials?|.*(?:token|secret|password|passphrase|api[-_]?key|access[-_]?key|private[-_]?key))$/i;
const SECRET_ENV = /(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY|_AUTH|_PASS)$/i;
const MARKER = /‹redacted ([a-z-]+) len=\d+ #[0-9a-f]+›/g;
/** Shorter values would mask ordinary words. */
const MIN_ENV_VALUE = 6;

/**
 * Masks secrets in text. The mark keeps length and a salted hash, so that a reader sees that two values are equal
 * without learning either: `‹redacted api-key len=51 #a1f3b2›`.
 */
export class Redactor {
  readonly #salt: string;
  readonly #literals: readonly { readonly name: string; readonly value: string }[];
  readonly #custom: readonly CustomRule[];
  /** Texts found to hold no secret, as JSON. What was masked is never kept. */
  readonly #clean = new RecentTexts<string>();
  readonly #keys = new RecentTexts<CapturedKey>();
  /** How often each rule has masked something. */
  readonly counts = new Map<string, number>();

  constructor(options: RedactionOptions = {}) {
    this.#salt = options.salt ?? randomBytes(16).toString('hex');
    this.#custom = options.rules ?? [];
    this.#literals = secretLiterals(options.env ?? process.env);
  }

  /** Names of the rules in force, for the flow's header. */
  get ruleNames(): readonly string[] {
    return ['key-name', 'env-value', ...SHAPES.map((shape) => shape.name)];
  }
  /** Whether any rule is the embedding program's own. */
  get hasCustomRules(): boolean {
    return this.#custom.length > 0;
  }
  /** @internal Length of the longest literal with a line break in it, which a stream scanner must keep together; 0 when there is none. */
  get longestMultiline(): number {
    return this.#literals.reduce((longest, { value }) => (value.includes('\n') ? Math.max(longest, value.length) : longest), 0);
  }

  /** True when a field of this name holds a secret whatever its value looks like. */
  isSecretKey(key: string): boolean {
    return SECRET_KEY.test(key);
  }

  /** The text with secrets masked. `path` is where in a value it stands, for rules that go by place. */
  text(text: string, path = '$'): string {
    let kept = this.#builtIn(text);
    for (const rule of this.#custom) {
      try {
        const next = rule(kept, path);
        if (next !== kept) this.#count('custom');
        kept = next;
      } catch {
        return this.mark('failed-rule', text);
      }
    }
    return kept;
  }

  /** @internal JSON text of what `text` returns. Actors carry the same strings from event to event: what is known to be clean is not searched again. */
  json(text: string, path = '$'): string {
    const known = this.#clean.get(text);
    if (known !== undefined) return known;
    const kept = this.text(text, path);
    const json = JSON.stringify(kept);
    if (kept === text && this.#custom.length === 0) this.#clean.set(text, json);
    return json;
  }

  /** @internal The name of a field: as JSON, and whether its value is a secret whatever it looks like. */
  key(key: string, path = '$'): CapturedKey {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const kept = this.text(key, path);
    const captured = capturedKey(JSON.stringify(kept), this.isSecretKey(key));
    if (kept === key && this.#custom.length === 0) this.#keys.set(key, captured, true);
    return captured;
  }

  /** What of `text` would be masked now: the last look before something leaves the machine. */
  findings(text: string): readonly string[] {
    const rest = text.replace(MARKER, '‹›');
    const found = SHAPES.filter((shape) => {
      for (const match of rest.matchAll(shape.pattern)) {
        const secret = match[shape.group ?? 0] ?? '';
        if (!secret.startsWith('‹') && shape.accept?.(match[0], secret) !== false) return true;
      }
      return false;
    }).map((shape) => shape.name);
    return this.#literals.some(({ value }) => rest.includes(value)) ? [...found, 'env-value'] : found;
  }

  /** What stands in place of a secret: the rule's name, the length, and a salted hash by which equal ones are seen to be equal. */
  mark(rule: string, secret: string): string {
    this.#count(rule);
    const hash = createHmac('sha256', this.#salt).update(secret).digest('hex').slice(0, 6);
    return `‹redacted ${rule} len=${secret.length} #${hash}›`;
  }

  #builtIn(text: string): string {
    if (text.length < MIN_ENV_VALUE) return text;
    let kept = text;
    for (const { value } of this.#literals) if (kept.includes(value)) kept = kept.replaceAll(value, () => this.mark('env-value', value));
    if (!ANY_HINT.test(kept)) return kept;
    for (const shape of SHAPES) {
      if (!shape.hint.test(kept)) continue;
      kept = kept.replace(shape.pattern, (match: string, ...groups: unknown[]) => {
        const secret = shape.group === undefined ? match : groups[shape.group - 1];
        if (typeof secret !== 'string' || secret.startsWith('‹') || shape.accept?.(match, secret) === false) return match;
        const at = shape.group === undefined ? 0 : match.lastIndexOf(secret);
        return match.slice(0, at) + this.mark(shape.name, secret) + match.slice(at + secret.length);
      });
    }
    return kept;
  }

  #count(rule: string): void {
    this.counts.set(rule, (this.counts.get(rule) ?? 0) + 1);
  }
}

/** Values of secret-named variables, longest first so that a secret inside another one does not break it up; with their spellings in JSON and URLs. */
function secretLiterals(env: Readonly<Record<string, string | undefined>>): { name: string; value: string }[] {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < MIN_ENV_VALUE || !SECRET_ENV.test(name)) continue;
    for (const spelling of [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]) values.set(spelling, name);
  }
  return [...values].map(([value, name]) => ({ name, value })).sort((a, b) => b.value.length - a.value.length);
}

/** Counts the marks in text by rule: what an export tells before it is written. */
export function countMarks(text: string): { rule: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const match of text.matchAll(MARKER)) counts.set(match[1] ?? '', (counts.get(match[1] ?? '') ?? 0) + 1);
  return [...counts].map(([rule, count]) => ({ rule, count })).sort((a, b) => b.count - a.count);
}
