import {
  type CommandNode,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { checkWord, walkExpansions, walkRedirects, walkWords } from './check.js';
import { START, union } from './directories.js';
import { inputOf, outputOf } from './inputs.js';
import { HOME, readWord } from './readings.js';
import { walkCommand } from './simple.js';
import type { Scope, WalkState } from './state.js';
import { type OpaqueMode, UNKNOWN } from './types.js';

/** Collects every command, redirection and blind spot of a parsed script. */
export function walkScript(script: ParsedScript, source: string, mode: OpaqueMode, cwd: string | undefined): WalkState {
  const variables = new Map<string, string[]>();
  const state: WalkState = {
    commands: [],
    nested: [],
    redirects: [],
    opaque: [],
    blockers: new Set(),
    aliases: new Map(),
    variables,
    reading: { variables, mode },
    cwd,
    changesDirectory: false,
    moves: 0,
    assigned: new Set(),
    broken: null,
    walkParsed: (parsed, scope) => walkParsed(state, parsed, scope),
  };
  walkParsed(state, script, { source, directories: START, stdin: null, via: null, timed: false, depth: 0 });
  return state;
}

/** Walks a script of its own: the whole text, or one inside a word. */
function walkParsed(state: WalkState, parsed: ParsedScript, scope: Scope): void {
  if (parsed.errors !== undefined && parsed.errors.length > 0) state.broken ??= parsed.errors[0]?.message ?? 'it does not parse';
  const text = parsed.source ?? scope.source;
  if (/=|\bfor\b|\bselect\b/.test(text)) collectVariables(state, parsed);
  walkStatements(state, parsed.commands, { ...scope, source: text });
}

/** Notes every literal value that the script gives a variable, wherever it stands. */
function collectVariables(state: WalkState, node: SyntaxNode): void {
  const context = { ...state.reading, ambient: HOME };
  if (node.type === 'Assignment') assign(state, node.name, node.value.type === 'Word' ? readWord(node.value, context) : []);
  if (node.type === 'For' || node.type === 'Select')
    for (const word of node.wordlist ?? []) assign(state, node.name.value, readWord(word, context));
  forEachChild(node, (child) => collectVariables(state, child));
}

function assign(state: WalkState, name: string, alternatives: readonly (readonly string[])[]): void {
  const values = state.variables.get(name) ?? [];
  for (const fields of alternatives) {
    const value = fields.join(' ');
    if (!value.includes(UNKNOWN) && !values.includes(value) && values.length < 8) values.push(value);
  }
  state.variables.set(name, values);
}

function walkStatements(state: WalkState, statements: readonly Statement[], scope: Scope): void {
  for (const statement of statements) {
    if (statement.background === true) state.blockers.add('runs in the background');
    const before = scope.directories;
    walkNode(state, statement.command, scope);
    if (statement.background === true) scope.directories = before;
    // A `cd` that fails leaves what follows where it was.
    else scope.directories = union(scope.directories, before);
  }
}

function walkList(state: WalkState, list: CompoundList, scope: Scope): void {
  walkStatements(state, list.commands, scope);
}

function walkNode(state: WalkState, node: PipelineNode | Statement['command'], scope: Scope): void {
  if (node.type === 'AndOr') {
    let before = scope.directories;
    node.commands.forEach((part, index) => {
      if (node.operators[index - 1] === '||') scope.directories = union(scope.directories, before);
      before = scope.directories;
      walkNode(state, part, scope);
    });
    return;
  }
  if (node.type !== 'Pipeline') {
    walkCommandNode(state, node, scope);
    return;
  }
  const timed = scope.timed || node.prefixes.some((prefix) => prefix.type === 'Time');
  let stdin = scope.stdin;
  for (const command of node.commands) {
    const stage: Scope = { ...scope, stdin, timed };
    walkCommandNode(state, command, stage);
    if (node.commands.length === 1) scope.directories = stage.directories;
    stdin = outputOf(state, command);
  }
}

function walkCommandNode(state: WalkState, node: CommandNode, scope: Scope): void {
  switch (node.type) {
    case 'Command':
      walkCommand(state, node, scope);
      return;
    case 'Redirected': {
      walkRedirects(state, node.redirects, scope);
      const inner: Scope = { ...scope, stdin: inputOf(state, node.redirects) ?? scope.stdin };
      walkCommandNode(state, node.command, inner);
      scope.directories = inner.directories;
      return;
    }
    case 'Subshell':
      state.blockers.add('has a subshell');
      walkList(state, node.body, { ...scope });
      return;
    case 'BraceGroup':
      state.blockers.add('has a { … } group');
      walkList(state, node.body, scope);
      return;
    case 'If':
      branches(scope, [
        (inner) => {
          walkList(state, node.clause, inner);
          walkList(state, node.then, inner);
        },
        ...node.elif.map((branch) => (inner: Scope) => {
          walkList(state, branch.clause, inner);
          walkList(state, branch.then, inner);
        }),
        (inner) => {
          if (node.else !== undefined) walkList(state, node.else, inner);
        },
      ]);
      return;
    case 'While':
      loop(node, scope, (inner) => {
        walkList(state, node.clause, inner);
        walkList(state, node.body, inner);
      });
      return;
    case 'For':
    case 'Select':
      for (const word of node.wordlist ?? []) checkWord(state, word, scope);
      if (node.wordlist === undefined) state.blockers.add("loops over the shell's arguments");
      loop(node, scope, (inner) => walkList(state, node.body, inner));
      return;
    case 'ArithmeticFor':
    case 'ArithmeticCommand':
      state.blockers.add('computes with (( ))');
      if (node.type === 'ArithmeticCommand' && node.expression === undefined && node.body.trim() !== '') {
        state.broken ??= 'what stands in (( )) is no arithmetic';
      }
      if (node.type === 'ArithmeticFor') loop(node, scope, (inner) => walkList(state, node.body, inner));
      walkExpansions(state, node, scope);
      return;
    case 'Case':
      checkWord(state, node.word, scope);
      branches(
        scope,
        node.items.map((item) => (inner: Scope) => {
          for (const pattern of item.pattern) checkWord(state, pattern, inner);
          walkList(state, item.body, inner);
        }),
      );
      return;
    case 'TestCommand':
      walkWords(state, node.expression, scope);
      return;
    case 'Function':
      state.blockers.add('defines a function');
      if (node.body.type === 'CompoundList') walkList(state, node.body, { ...scope });
      else walkCommandNode(state, node.body, { ...scope });
      return;
    case 'Coproc':
      state.blockers.add('starts a coprocess');
      if (node.body.type === 'CompoundList') walkList(state, node.body, { ...scope, via: scope.via ?? 'coproc' });
      else walkCommandNode(state, node.body, { ...scope, via: scope.via ?? 'coproc' });
      return;
  }
}

/** Branches of which one or none runs: afterwards the shell may be in any of their directories. */
function branches(scope: Scope, bodies: readonly ((inner: Scope) => void)[]): void {
  const before = scope.directories;
  let after = before;
  for (const body of bodies) {
    const inner: Scope = { ...scope, directories: union(before, after) };
    body(inner);
    after = union(after, inner.directories);
  }
  scope.directories = after;
}

/** A body that may run again: a `cd` in it also moves its next round, by a distance that nobody knows. */
function loop(node: { readonly pos: number; readonly end: number }, scope: Scope, body: (inner: Scope) => void): void {
  const moves = /\b(cd|pushd|popd|chdir)\b/.test(scope.source.slice(node.pos, node.end));
  const inner: Scope = { ...scope, directories: moves ? { ...scope.directories, unknown: true } : scope.directories };
  body(inner);
  scope.directories = union(scope.directories, inner.directories);
}
