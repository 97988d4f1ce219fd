import { parse } from 'unbash';
import { type Derived, derive } from './derive.js';
import { START } from './directories.js';
import { deriveByAssignment } from './programs.js';
import type { Scope, WalkState } from './state.js';
import { MAX_COMMAND_LENGTH, type ShellCommand, UNKNOWN, type Via } from './types.js';

const MAX_DEPTH = 8;
const MAX_COMMANDS = 2_000;
const HIDDEN = 'has a command substitution that a quoted word hides';
const SUBSCRIPT = /\[.*(\$\(|`)/s;

/** Records a command, and what running it would run in turn. */
export function push(state: WalkState, command: ShellCommand, scope: Scope): void {
  if (state.commands.length + state.nested.length > MAX_COMMANDS) {
    state.broken ??= 'it holds too many commands to look at';
    return;
  }
  (command.via === null || command.via === 'coproc' ? state.commands : state.nested).push(command);
  if (scope.depth >= MAX_DEPTH) {
    state.opaque.push({ text: command.text, reason: 'commands are nested too deep to look at' });
    return;
  }
  for (const reading of command.readings) {
    if (state.reading.mode === 'strict' && (reading[0] ?? '').includes(UNKNOWN)) {
      state.opaque.push({ text: command.text, reason: `which program ${shorten(command.text)} runs is only known when it runs` });
    }
    for (const found of derive(reading, scope.stdin)) follow(state, found, command, scope);
  }
  for (const { name, value } of command.assignments) {
    if (value !== null) for (const found of deriveByAssignment(name, value)) follow(state, found, command, scope);
  }
}

function follow(state: WalkState, found: Derived, command: ShellCommand, scope: Scope): void {
  if (state.reading.mode === 'claude-code' && (found.kind === 'opaque' || !found.plain)) {
    // The one thing that it asks about there (Claude Code changelog, 2.1.261).
    if (found.kind === 'script' && found.via === 'script' && /\brm(dir)?\b/.test(found.script))
      state.opaque.push({ text: command.text, reason: 'a shell runs the text after -c' });
    return;
  }
  if (found.kind === 'script' && found.via === 'eval' && command.via === null && command.words[0]?.value !== 'eval')
    state.blockers.add(HIDDEN);
  if (found.kind === 'opaque') state.opaque.push({ text: command.text, reason: found.reason });
  else if (found.kind === 'argv') pushArgv(state, found.argv, found.via, command, scope);
  else pushScript(state, found.script, found.via, command, scope);
}

function pushArgv(state: WalkState, argv: readonly string[], via: Via, from: ShellCommand, scope: Scope): void {
  const text = argv.join(' ').replaceAll(UNKNOWN, '…');
  const words = argv.map((value) => ({
    text: value,
    value: value.includes(UNKNOWN) ? null : value,
    glob: false,
    tilde: value.startsWith('~'),
  }));
  const command: ShellCommand = { ...from, text, ruleText: text, assignments: [], words, redirects: [], readings: [argv], via };
  push(state, command, { ...scope, via, depth: scope.depth + 1 });
}

function pushScript(state: WalkState, text: string, via: Via, from: ShellCommand, scope: Scope): void {
  const script = text.replaceAll(UNKNOWN, '$_');
  const parsed = script.length > MAX_COMMAND_LENGTH ? null : parse(script);
  // Its own structure is no concern of allow rules: those speak of the command around it.
  const outside = new Set(state.blockers);
  const { broken } = state;
  state.broken = null;
  if (parsed === null) state.broken = 'it is too long';
  else {
    state.walkParsed(parsed, {
      source: script,
      directories: scope.directories,
      stdin: scope.stdin,
      via,
      timed: false,
      depth: scope.depth + 1,
    });
  }
  if (state.broken !== null)
    state.opaque.push({ text: from.text, reason: `${shorten(text.replaceAll(UNKNOWN, '…'))} does not parse as a command` });
  state.broken = broken;
  for (const blocker of state.blockers) if (!outside.has(blocker)) state.blockers.delete(blocker);
}

/** Where the shell computes with a variable, it runs the substitutions in a subscript that the value holds. */
export function followSubscript(state: WalkState, value: string, scope: Scope): void {
  if (!SUBSCRIPT.test(value)) return;
  state.blockers.add(HIDDEN);
  const from: ShellCommand = { ...NO_COMMAND, text: value, directories: scope.directories };
  pushScript(state, `: ${value}`, 'eval', from, { ...scope, depth: scope.depth + 1 });
}

const NO_COMMAND: ShellCommand = {
  text: '',
  ruleText: '',
  assignments: [],
  words: [],
  redirects: [],
  directories: START,
  readings: [],
  via: null,
  blockers: [],
  timed: false,
};

function shorten(text: string): string {
  const line = (text.split('\n')[0] ?? '').replaceAll('$_', '…');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}
