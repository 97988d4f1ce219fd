import { messageOf } from '../tool/errors.js';

/** Says whether a hook's matcher covers a subject (a tool name, a session source …). */
export type SubjectMatcher = (subject: string | undefined) => boolean;

const NAMES_ONLY = /^[A-Za-z0-9_\-,| ]+$/;

/**
 * Compiles a matcher (Claude Code docs, hooks: matcher patterns): nothing, `""` and `"*"` match everything; a text of
 * letters, digits, `_`, `-`, spaces, `,` and `|` is a list of exact names; any other text is an unanchored, case-sensitive
 * regular expression. So `mcp__memory` is one exact name and `mcp__memory__.*` covers a server's tools.
 *
 * `formerNames` gives what the subject was called before. A former name counts where the matcher spells it out: `^(?!Agent$)` must not
 * cover Agent as the Task that it was, nor `Bash.*` the tool that was once BashOutput.
 */
export function compileMatcher(
  matcher: string | undefined,
  formerNames: (subject: string) => readonly string[] = () => [],
): { readonly ok: true; readonly matches: SubjectMatcher } | { readonly ok: false; readonly reason: string } {
  if (matcher === undefined || matcher === '' || matcher === '*') return { ok: true, matches: () => true };
  const spelt = new Set(matcher.split(/\W+/));
  const namesOf = (subject: string): readonly string[] => [subject, ...formerNames(subject).filter((name) => spelt.has(name))];
  if (NAMES_ONLY.test(matcher)) {
    const names = new Set(
      matcher
        .split(/[|,]/)
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    );
    return { ok: true, matches: (subject) => subject !== undefined && namesOf(subject).some((name) => names.has(name)) };
  }
  try {
    const pattern = new RegExp(matcher);
    return { ok: true, matches: (subject) => subject !== undefined && namesOf(subject).some((name) => pattern.test(name)) };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}
