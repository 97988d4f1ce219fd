import path from 'node:path';
import { member, syntaxOf, wordNodes } from './syntax.js';

/** Commands for which exit code 1 is an answer ("no match", "they differ", "false"), not a failure. */
const ONE_IS_AN_ANSWER: ReadonlyMap<string, string> = new Map([
  ['grep', 'no matches'],
  ['rg', 'no matches'],
  ['egrep', 'no matches'],
  ['fgrep', 'no matches'],
  ['find', 'some directories could not be read'],
  ['diff', 'the files differ'],
  ['test', 'the condition is false'],
  ['[', 'the condition is false'],
]);
const GIT_ANSWERS: ReadonlyMap<string, string> = new Map([
  ['diff', 'there are differences'],
  ['grep', 'no matches'],
]);

/** Commands before `&&` that say so on stderr when it is they that failed. */
const NEVER_SILENT: ReadonlySet<unknown> = new Set(['cd', 'pushd']);
/** Options of git itself that take the next word. */
const GIT_OPTIONS: ReadonlySet<unknown> = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace']);

/**
 * What exit code 1 of a command means where it is no failure; undefined where it is one. Decided by the command whose code the
 * shell reports: the last of a list, and of a pipeline. In `a && b` either may have set it, so both must be such commands, but for a
 * `cd` where nothing stands on stderr.
 */
export function meaningOfExitOne(command: string, isQuiet = false): string | undefined {
  return meaning(syntaxOf(command), isQuiet);
}

function meaning(node: unknown, isQuiet: boolean): string | undefined {
  const commands = member(node, 'commands');
  switch (member(node, 'type')) {
    case 'Script':
    case 'CompoundList':
      return Array.isArray(commands) ? meaning(commands.at(-1), isQuiet) : undefined;
    case 'Pipeline': {
      const last = Array.isArray(commands) ? meaning(commands.at(-1), isQuiet) : undefined;
      const prefixes = member(node, 'prefixes');
      const negations = Array.isArray(prefixes) ? prefixes.filter((prefix) => member(prefix, 'type') === 'Negation').length : 0;
      return last !== undefined && negations % 2 === 1 ? 'what is negated is true' : last;
    }
    case 'Statement':
      return meaning(member(node, 'command'), isQuiet);
    case 'TestCommand':
      return ONE_IS_AN_ANSWER.get('[');
    case 'Redirected':
      // Where stderr went elsewhere, its silence says nothing.
      return meaning(member(node, 'command'), false);
    case 'Subshell':
    case 'BraceGroup':
      return meaning(member(node, 'body'), isQuiet);
    case 'AndOr': {
      const all = Array.isArray(commands) ? commands : [];
      const judged = all.filter((part, at) => !(isQuiet && at < all.length - 1 && isNeverSilent(part)));
      const meanings = judged.map((part) => meaning(part, isQuiet));
      return meanings.every((text) => text !== undefined) ? meanings.at(-1) : undefined;
    }
    case 'Command': {
      const [written, ...rest] = wordsOf(node) ?? [];
      const [name, ...operands] = written === 'command' ? rest : [written, ...rest];
      if (typeof name !== 'string') return undefined;
      const base = path.posix.basename(name);
      return base === 'git' ? GIT_ANSWERS.get(gitCommand(operands)) : ONE_IS_AN_ANSWER.get(base);
    }
    default:
      return undefined;
  }
}

/** The name and the words of a command; undefined for anything else. */
function wordsOf(node: unknown): readonly unknown[] | undefined {
  return wordNodes(node)?.map((word) => member(word, 'value'));
}

/** A redirection stands among the words and has no value of its own. */
function isNeverSilent(node: unknown): boolean {
  const words = wordsOf(node);
  return words !== undefined && NEVER_SILENT.has(words[0]) && words.every((word) => typeof word === 'string');
}

function gitCommand(words: readonly unknown[]): string {
  let at = 0;
  while (String(words[at]).startsWith('-')) at += GIT_OPTIONS.has(words[at]) ? 2 : 1;
  return String(words[at]);
}
