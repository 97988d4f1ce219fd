import { parseRuleText } from '../permissions/grammar.js';
import { canonicalToolName } from '../permissions/toolNames.js';
import type { PermissionRule, TraceEntry } from '../permissions/types.js';
import type { PermissionModel } from './explore/model.js';
import type { PermissionPath } from './explore/path.js';
import type { CallCase, ModeCase } from './explore/types.js';
import { ruleText } from './ruleText.js';

/** A statement about every path of some calls. */
export interface Property {
  /** The sentence: `never Bash(rm *) runs unless asked`. */
  readonly name: string;
  /** Calls it speaks of, as rules spell them. Empty: every call of the model. */
  readonly patterns: readonly string[];
  /** Modes it speaks of; undefined means every mode of the model. */
  readonly modes?: readonly ModeCase[];
  /** Null when the path is as it should be, else what is wrong. */
  readonly fault: (path: PermissionPath) => string | null;
}

/** Narrows a property. */
export interface Circumstances {
  /** Only in this mode, or in these. */
  readonly mode?: ModeCase | readonly ModeCase[];
}
/** Narrows `never(…).runs()`, or says what excuses it. */
export interface Exceptions extends Circumstances {
  /** `asked`: a person or a PermissionRequest hook said yes. `askedPerson`: a person did. */
  readonly unless?: 'asked' | 'askedPerson';
}

/** What must happen on no path: `never('Bash(rm *)').runs({ unless: 'asked' })`. Several patterns share the statement. */
export function never(...patterns: readonly string[]) {
  const name = patterns.join(', ');
  return {
    /** The tool is called. */
    runs: ({ unless, mode }: Exceptions = {}): Property =>
      property(
        `never ${name} runs${unless === undefined ? '' : ` unless ${unless === 'asked' ? 'asked' : 'a person was asked'}`}${inMode(mode)}`,
        patterns,
        { mode },
        (path) => {
          if (!path.ran) return null;
          if (unless === 'asked') return path.asked ? null : 'it runs and nobody was asked';
          if (unless === 'askedPerson') return path.askedPerson ? null : 'it runs and no person was asked';
          return 'it runs';
        },
      ),
    /** A question comes up. */
    asks: ({ mode }: Circumstances = {}): Property =>
      property(`never ${name} asks${inMode(mode)}`, patterns, { mode }, (path) => (path.demanded ? 'it asks' : null)),
    /** The call is refused, by whomever but a person. */
    isDenied: ({ mode }: Circumstances = {}): Property =>
      property(`never ${name} is denied${inMode(mode)}`, patterns, { mode }, (path) =>
        path.outcome === 'denied' && !path.asked ? 'it is denied' : null,
      ),
  };
}

/** What must happen on every path: `always('Edit(/src/**)').asks({ mode: 'default' })`. */
export function always(...patterns: readonly string[]) {
  const name = patterns.join(', ');
  const decided = (path: PermissionPath): boolean => path.outcome !== 'invalid' && path.decision !== null;
  return {
    /** Nothing runs before a question came up; a denial needs no question. */
    asks: ({ mode }: Circumstances = {}): Property =>
      property(`always ${name} asks${inMode(mode)}`, patterns, { mode }, (path) => {
        if (path.ran && !path.demanded) return 'it runs and no question comes up';
        if (path.decision === 'deny' && !path.demanded) return 'it is denied and no question comes up';
        return null;
      }),
    /** The call is refused without a question. */
    isDenied: ({ mode }: Circumstances = {}): Property =>
      property(`always ${name} is denied${inMode(mode)}`, patterns, { mode }, (path) => {
        if (path.ran) return 'it runs';
        return path.demanded ? 'it asks instead of being denied' : null;
      }),
    /** The call goes through without a question. */
    runs: ({ mode }: Circumstances = {}): Property =>
      property(`always ${name} runs${inMode(mode)}`, patterns, { mode }, (path) => {
        if (path.ran) return path.demanded ? 'it asks before it runs' : null;
        return decided(path) ? 'it does not run' : null;
      }),
  };
}

/** Any other statement about paths. The predicate returns null or true for a path as it should be, else what is wrong with it. */
export function property(
  name: string,
  patterns: readonly string[],
  { mode }: { readonly mode?: Circumstances['mode'] | undefined },
  fault: (path: PermissionPath) => string | boolean | null,
): Property {
  const modes = mode === undefined ? undefined : typeof mode === 'string' ? [mode] : mode;
  return {
    name,
    patterns,
    ...(modes === undefined ? {} : { modes }),
    fault: (path) => {
      const found = fault(path);
      if (found === null || found === true) return null;
      return found === false ? 'the statement does not hold' : found;
    },
  };
}

const inMode = (mode: Circumstances['mode']): string =>
  mode === undefined ? '' : ` in mode ${typeof mode === 'string' ? mode : mode.join(' or ')}`;

/** A statement that does not hold, with the shortest path that shows it. */
export interface Violation {
  /** The statement. */
  readonly property: string;
  /** What is wrong with the path. */
  readonly problem: string;
  /** The shortest path that shows it. */
  readonly path: PermissionPath;
  /** The call on that path that shows it. */
  readonly call: CallCase;
  /** Rules with file and line that speak of the call; those that decided first. */
  readonly rules: readonly PermissionRule[];
  /** Every check of the call's decision, in order. */
  readonly trace: readonly TraceEntry[];
  /** How many calls violate it in all. */
  readonly calls: number;
  /** How many paths violate it in all. */
  readonly paths: number;
}
/** What became of one statement. */
export interface PropertyResult {
  /** The statement. */
  readonly property: Property;
  /** Paths that were looked at. */
  readonly paths: number;
  /** Calls on those paths. */
  readonly calls: number;
  /** The shortest path that breaks it; null where it holds. */
  readonly violation: Violation | null;
}

/**
 * Holds properties against every path of a model.
 *
 * @throws when a property speaks of calls that the model does not have: it would hold for want of anything to look at.
 */
export function checkProperties(model: PermissionModel, properties: readonly Property[]): readonly PropertyResult[] {
  return properties.map((one) => checkProperty(model, one));
}

function checkProperty(model: PermissionModel, one: Property): PropertyResult {
  const speaksOf = (call: CallCase): boolean => one.patterns.length === 0 || one.patterns.some((pattern) => covers(pattern, call));
  const subjects = new Set(model.calls.filter(speaksOf));
  const paths = model.paths.filter(
    ({ mode, calls }) => (one.modes === undefined || one.modes.includes(mode)) && calls.some((call) => subjects.has(call)),
  );
  if (paths.length === 0)
    throw new Error(
      `"${one.name}" speaks of no path of this model; add its calls to "calls" and its modes to "modes" of explorePermissions().`,
    );
  const faulty = paths.flatMap((path) => {
    const problem = one.fault(path);
    return problem === null ? [] : [{ path, problem }];
  });
  const calls = new Set(faulty.flatMap(({ path }) => path.calls.filter((call) => subjects.has(call))));
  const looked = new Set(paths.flatMap((path) => path.calls.filter((call) => subjects.has(call))));
  return { property: one, paths: paths.length, calls: looked.size, violation: shortest(one, faulty, subjects, calls.size) };
}

/** The shortest path, and on it the plainest call. */
function shortest(
  one: Property,
  faulty: readonly { readonly path: PermissionPath; readonly problem: string }[],
  subjects: ReadonlySet<CallCase>,
  calls: number,
): Violation | null {
  const ranked = faulty.flatMap(({ path, problem }) =>
    path.calls
      .filter((call) => subjects.has(call))
      .map((call) => ({ path, problem, call, rank: [path.length, modeRank(path.mode), call.text.length] })),
  );
  const best = ranked.reduce<(typeof ranked)[number] | undefined>(
    (a, b) => (a === undefined || isBefore(b.rank, a.rank) ? b : a),
    undefined,
  );
  if (best === undefined) return null;
  const { rules, trace } = best.path.account(best.call);
  return { property: one.name, problem: best.problem, path: best.path, call: best.call, rules, trace, calls, paths: faulty.length };
}

const MODE_ORDER: readonly ModeCase[] = ['default', 'acceptEdits', 'plan', 'auto', 'autoWithClassifier', 'dontAsk', 'bypassPermissions'];
const modeRank = (mode: ModeCase): number => MODE_ORDER.indexOf(mode);

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    if (value !== other) return value < other;
  }
  return false;
}

/** Whether a pattern speaks of a call: it was derived from it, or it is written out as one. */
function covers(pattern: string, call: CallCase): boolean {
  if (call.pattern !== undefined) return call.pattern === pattern;
  if (call.text === pattern) return true;
  const parsed = parseRuleText(pattern);
  return parsed.ok && parsed.ruleContent === undefined && canonicalToolName(parsed.toolName) === canonicalToolName(call.tool);
}

/** A violation in words: the statement, the witness, what was said on the way, and the rules with their places. */
export function describeViolation({ property: name, problem, path, call, rules, trace, calls, paths }: Violation): string {
  const decisive = trace.filter(({ behavior }) => behavior !== 'passthrough');
  const lines = [
    `✗ ${name}`,
    `  ${problem}: ${call.text}${call.spelling === undefined ? '' : `   (${call.spelling})`}`,
    `  path: ${path.describe(call)}`,
    ...decisive.map(({ check, behavior, reason }) => `  ${check}: ${behavior}, ${reason}`),
    ...rules.map((rule) => `  rule: ${ruleText(rule)}`),
    ...(calls > 1 ? [`  ${calls} calls on ${paths} paths like it`] : []),
  ];
  return lines.join('\n');
}
