import type { Assignment, CommandNode, Word } from 'unbash';
import { checkAssignment, checkWord, walkRedirects } from './check.js';
import { push } from './collect.js';
import { changeDirectory, sameDirectories, union } from './directories.js';
import { inputOf } from './inputs.js';
import { readWords } from './readings.js';
import type { Scope, WalkState } from './state.js';
import type { ShellDirectories, ShellWord } from './types.js';
import { staysInShell } from './variables.js';

const MAX_READINGS = 24;
const RESERVED = /^([!{}]|coproc|then|do|done|fi|esac|elif|else|in)$/;

/** Records a simple command and follows the directory changes that it makes. */
export function walkCommand(state: WalkState, node: Extract<CommandNode, { type: 'Command' }>, scope: Scope): void {
  walkRedirects(state, node.redirects, scope);
  const assignments = node.prefix
    .filter((part): part is Assignment => part.type === 'Assignment')
    .map((part) => checkAssignment(state, part, scope));
  if (node.name === undefined) {
    for (const { name, value } of assignments) {
      if (value !== null && staysInShell(name)) state.assigned.add(name);
      else state.blockers.add(`sets the variable ${name}`);
    }
    return;
  }
  if (RESERVED.test(node.name.text)) state.broken ??= `${node.name.text} stands where the shell reads no reserved word`;
  const nodes = [node.name, ...node.args];
  const words = nodes.map((part): ShellWord => {
    if (part.type === 'Word') return checkWord(state, part, scope);
    const { value } = checkAssignment(state, part, scope);
    const head = `${part.name}${part.append === true ? '+' : ''}=`;
    return { text: part.text, value: value === null ? null : head + value, glob: false, tilde: false };
  });
  const readings = withAliases(state, readWords(nodes, state.reading));
  const written = sourceText(nodes);
  // In a script that was put together from arguments `$_` stands for what they do not show.
  const text = scope.via === null ? written : written.replaceAll('$_', '…');
  const prefix = node.prefix.filter((part) => part.type === 'Assignment').map((part) => part.text);
  push(
    state,
    {
      text: [...prefix, text].join(' '),
      ruleText: text,
      assignments,
      words,
      redirects: [],
      directories: scope.directories,
      readings,
      via: scope.via,
      blockers: [],
      timed: scope.timed,
    },
    { ...scope, stdin: inputOf(state, node.redirects) ?? scope.stdin },
  );
  const moved = movedTo(state, readings, words, scope);
  if (moved === null) return;
  state.changesDirectory = true;
  if (scope.via === null && !sameDirectories(moved, scope.directories) && ++state.moves === 2)
    state.blockers.add('changes the directory more than once');
  scope.directories = moved;
}

/** Where the command leaves the shell: in any directory that a reading of it leads to; null where it changes none. */
function movedTo(state: WalkState, readings: readonly string[][], words: readonly ShellWord[], scope: Scope): ShellDirectories | null {
  const lead = (reading: readonly string[]) => changeDirectory(scope.directories, reading, state.cwd);
  const moves = readings.map(lead).filter((move) => move !== null);
  const [first] = moves;
  if (first === undefined) return null;
  const known = moves.filter((move) => move.unknown === scope.directories.unknown);
  if (known.length > 0) return known.reduce(union);
  const ambient = words.flatMap(({ mayBe = [] }) => mayBe.map((target) => lead(['cd', target]))).filter((move) => move !== null);
  return [first, ...ambient].reduce(union);
}

/** Readings together with what aliases defined before make of them; an `alias` command defines more. */
function withAliases(state: WalkState, readings: readonly string[][]): string[][] {
  const all = [...readings];
  for (let i = 0; i < all.length && all.length < MAX_READINGS; i++) {
    const [name = '', ...rest] = all[i] ?? [];
    for (const text of state.aliases.get(name) ?? []) {
      const [first = ''] = text.split(/\s+/);
      if (first !== name) all.push([...text.split(/\s+/), ...rest]);
    }
  }
  if (state.reading.mode === 'claude-code') return all;
  for (const [name, ...args] of all) {
    if (name !== 'alias') continue;
    for (const arg of args) {
      const at = arg.indexOf('=');
      if (at > 0) state.aliases.set(arg.slice(0, at), [...(state.aliases.get(arg.slice(0, at)) ?? []), arg.slice(at + 1)]);
    }
  }
  return all;
}

/** The words as written, one blank between them, redirections left out, line continuations joined. */
function sourceText(nodes: readonly (Word | Assignment)[]): string {
  return nodes.map((node) => (/["']/.test(node.text) ? node.text : node.text.replaceAll('\\\n', ''))).join(' ');
}
