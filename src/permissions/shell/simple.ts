import type { Assignment, CommandNode, Word } from 'unbash';
import { checkAssignment, checkWord, walkRedirects } from './check.js';
import { push } from './collect.js';
import { changeDirectory } from './directories.js';
import { inputOf } from './inputs.js';
import { readAssignment, readName, readWord } from './readings.js';
import type { Scope, WalkState } from './state.js';
import type { ShellWord } from './types.js';

const MAX_READINGS = 24;
const RESERVED = /^([!{}]|coproc|then|do|done|fi|esac|elif|else|in)$/;

/** Records a simple command and follows the directory changes that it makes. */
export function walkCommand(state: WalkState, node: Extract<CommandNode, { type: 'Command' }>, scope: Scope): void {
  walkRedirects(state, node.redirects, scope);
  const assignments = node.prefix
    .filter((part): part is Assignment => part.type === 'Assignment')
    .map((part) => checkAssignment(state, part, scope));
  if (node.name === undefined) {
    if (assignments.length > 0) state.blockers.add(`sets the variable ${assignments[0]?.name ?? ''}`);
    return;
  }
  if (RESERVED.test(node.name.text)) state.broken ??= `${node.name.text} stands where the shell reads no reserved word`;
  const words: ShellWord[] = [checkWord(state, node.name, scope)];
  let readings: string[][] = readName(node.name, state.reading);
  for (const arg of node.args) {
    let options: string[][];
    if (arg.type === 'Word') {
      words.push(checkWord(state, arg, scope));
      options = readWord(arg, state.reading);
    } else {
      const { value } = checkAssignment(state, arg, scope);
      words.push({
        text: arg.text,
        value: value === null ? null : `${arg.name}${arg.append === true ? '+' : ''}=${value}`,
        glob: false,
        tilde: false,
      });
      options = readAssignment(arg, state.reading);
    }
    const next: string[][] = [];
    for (const head of readings) for (const option of options) if (next.length < MAX_READINGS) next.push([...head, ...option]);
    readings = next;
  }
  const first = readings[0]?.[0];
  for (const reading of readings) {
    const meaning = state.aliases.get(reading[0] ?? '');
    if (meaning !== undefined)
      readings = [...readings, ...meaning.map((text) => [...text.split(/\s+/), ...reading.slice(1)])].slice(0, MAX_READINGS);
  }
  if (first === 'alias' && state.reading.mode === 'strict') {
    for (const arg of readings[0]?.slice(1) ?? []) {
      const at = arg.indexOf('=');
      if (at > 0) state.aliases.set(arg.slice(0, at), [...(state.aliases.get(arg.slice(0, at)) ?? []), arg.slice(at + 1)]);
    }
  }
  const end = words.length;
  const text = sourceText([node.name, ...node.args], scope.source);
  const prefix = node.prefix.filter((part) => part.type === 'Assignment').map((part) => part.text);
  push(
    state,
    {
      text: [...prefix, text].join(' '),
      ruleText: text,
      assignments,
      words: words.slice(0, end),
      redirects: [],
      directories: scope.directories,
      readings,
      via: scope.via,
      blockers: [],
      timed: scope.timed,
    },
    { ...scope, stdin: inputOf(state, node.redirects) ?? scope.stdin },
  );
  for (const reading of readings) {
    const moved = changeDirectory(scope.directories, reading, state.cwd);
    if (moved === null) continue;
    state.changesDirectory = true;
    scope.directories = moved;
    break;
  }
}

/** The words as written, blanks between them kept, redirections left out, line continuations joined. */
function sourceText(nodes: readonly (Word | Assignment)[], source: string): string {
  let text = '';
  let end = -1;
  for (const node of nodes) {
    if (end !== -1) {
      const gap = source.slice(end, node.pos);
      text += /^[ \t]+$/.test(gap) ? gap : ' ';
    }
    text += /["']/.test(node.text) ? node.text : node.text.replaceAll('\\\n', '');
    end = node.end;
  }
  return text;
}
