import { checkPairing } from '../messages/pairing.js';
import type { MessageParam } from '../messages/types.js';
import type { TraceEntry, VerdictBehavior } from '../permissions/types.js';
import type { OutcomeKind } from '../tool/call.js';
import { PermissionPath } from './explore/path.js';

/** What a matcher says; the shape that Vitest's `expect.extend` takes. */
export interface MatcherVerdict {
  /** Whether it is as expected. */
  readonly pass: boolean;
  /** What to say where the expectation (or its negation) fails. */
  readonly message: () => string;
}

/** A check of a trace: its name, or its name and verdict. */
export type ExpectedCheck = string | { readonly check: string; readonly behavior?: VerdictBehavior };

/**
 * Matchers for paths, histories and traces. For Vitest: `expect.extend(pathMatchers)` (or import `sixgates/testing/vitest`); elsewhere
 * `expectThat(value)` throws where they fail.
 */
export const pathMatchers = {
  /** The call ends in this state of `completed`. */
  toEndAs(received: unknown, kind: OutcomeKind): MatcherVerdict {
    const path = pathOf(received);
    return verdict(path.outcome === kind, path.description, `end as ${kind}`, `it ends as ${path.outcome ?? 'nothing'}`);
  },
  /** The tool is called. */
  toRun(received: unknown): MatcherVerdict {
    const path = pathOf(received);
    return verdict(path.ran, path.description, 'run', path.ran ? 'it runs' : 'it does not');
  },
  /** A person or a PermissionRequest hook was asked and answered. */
  toBeAsked(received: unknown): MatcherVerdict {
    const path = pathOf(received);
    return verdict(path.asked, path.description, 'be asked about', path.asked ? 'it is' : 'it is not');
  },
  /** The rule (as written), hook or check with this name gave the decision. */
  toBeDecidedBy(received: unknown, by: string): MatcherVerdict {
    const path = pathOf(received);
    const winner = path.account().decision?.winner;
    const { source } = winner ?? {};
    const names = [
      winner?.check,
      source?.type === 'rule' ? source.rule.text : undefined,
      source?.type === 'hook' ? source.hookName : source?.type,
    ];
    return verdict(
      names.includes(by),
      path.description,
      `be decided by ${by}`,
      `it is decided by ${names.filter((name) => name !== undefined).join(' / ') || 'nothing'}`,
    );
  },
  /** Every call of a history has its one result, and the API would accept it. A final word of the model is allowed. */
  toBePaired(received: unknown): MatcherVerdict {
    const problems = checkPairing(messagesOf(received)).filter(({ code }) => code !== 'trailing_assistant');
    const found = problems.map(({ text }) => text).join('\n  ');
    return {
      pass: problems.length === 0,
      message: () => (found === '' ? 'The history is paired, and was expected not to be.' : `The history is not paired:\n  ${found}`),
    };
  },
  /** The decision's trace contains these checks in this order; others may stand between them. */
  toHaveTrace(received: unknown, expected: readonly ExpectedCheck[]): MatcherVerdict {
    const trace = traceOf(received);
    let at = 0;
    for (const entry of trace) if (at < expected.length && isExpected(entry, expected[at])) at++;
    const shown = trace.map(({ check, behavior }) => `${check} (${behavior})`).join(', ') || 'empty';
    const missing = expected[at];
    return {
      pass: at === expected.length,
      message: () =>
        missing === undefined
          ? `The trace has all of these checks, and was expected not to: ${shown}`
          : `The trace lacks ${typeof missing === 'string' ? missing : JSON.stringify(missing)} at that place. It is: ${shown}`,
    };
  },
};

/** The matchers bound to a value: each throws where it fails. */
export type Expectation = {
  readonly [Name in keyof typeof pathMatchers]: (typeof pathMatchers)[Name] extends (
    received: unknown,
    ...rest: infer Rest
  ) => MatcherVerdict
    ? (...rest: Rest) => void
    : never;
};

/** The matchers for any test runner: `expectThat(path).toEndAs('denied')` throws an Error where it does not. */
export function expectThat(received: unknown): Expectation {
  const check = ({ pass, message }: MatcherVerdict): void => {
    if (!pass) throw new Error(message());
  };
  return {
    toEndAs: (kind) => check(pathMatchers.toEndAs(received, kind)),
    toRun: () => check(pathMatchers.toRun(received)),
    toBeAsked: () => check(pathMatchers.toBeAsked(received)),
    toBeDecidedBy: (by) => check(pathMatchers.toBeDecidedBy(received, by)),
    toBePaired: () => check(pathMatchers.toBePaired(received)),
    toHaveTrace: (expected) => check(pathMatchers.toHaveTrace(received, expected)),
  };
}

const verdict = (pass: boolean, subject: string, what: string, found: string): MatcherVerdict => ({
  pass,
  message: () => `expected ${pass ? 'not ' : ''}to ${what}, but ${found}:\n  ${subject}`,
});

function pathOf(received: unknown): PermissionPath {
  if (received instanceof PermissionPath) return received;
  throw new TypeError('This matcher takes a path of explorePermissions().');
}

function messagesOf(received: unknown): readonly MessageParam[] {
  if (Array.isArray(received)) return received;
  if (typeof received === 'object' && received !== null && 'messages' in received && Array.isArray(received.messages))
    return received.messages;
  throw new TypeError('toBePaired takes a list of messages, a session, or anything else with "messages".');
}

function traceOf(received: unknown): readonly TraceEntry[] {
  if (received instanceof PermissionPath) return received.account().trace;
  if (typeof received === 'object' && received !== null && 'trace' in received && Array.isArray(received.trace)) return received.trace;
  throw new TypeError('toHaveTrace takes a path, a decision, or anything else with a "trace".');
}

const isExpected = (entry: TraceEntry, expected: ExpectedCheck | undefined): boolean =>
  typeof expected === 'string'
    ? entry.check === expected
    : expected !== undefined && entry.check === expected.check && (expected.behavior ?? entry.behavior) === entry.behavior;
