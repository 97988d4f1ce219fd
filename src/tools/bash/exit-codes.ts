import { parse } from 'unbash';

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

/**
 * What exit code 1 of a command means where it is no failure; undefined where it is one. Decided by the command whose code the
 * shell reports: the last of a list, and of a pipeline. In `a && b` either may have set it, so both must be such commands.
 */
export function meaningOfExitOne(command: string): string | undefined {
  let script: unknown;
  try {
    script = parse(command);
  } catch {
    return undefined;
  }
  return meaning(script);
}

function meaning(node: unknown): string | undefined {
  const commands = member(node, 'commands');
  switch (member(node, 'type')) {
    case 'Script':
    case 'Pipeline':
      return Array.isArray(commands) ? meaning(commands.at(-1)) : undefined;
    case 'Statement':
      return meaning(member(node, 'command'));
    case 'AndOr': {
      const meanings = Array.isArray(commands) ? commands.map(meaning) : [];
      return meanings.every((text) => text !== undefined) ? meanings.at(-1) : undefined;
    }
    case 'Command': {
      const name = member(member(node, 'name'), 'value');
      if (typeof name !== 'string') return undefined;
      const suffix = member(node, 'suffix');
      const first = Array.isArray(suffix) ? member(suffix[0], 'value') : undefined;
      return name === 'git' ? GIT_ANSWERS.get(String(first)) : ONE_IS_AN_ANSWER.get(name);
    }
    default:
      return undefined;
  }
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
