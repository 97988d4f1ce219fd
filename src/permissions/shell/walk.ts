import {
  type Assignment,
  type CommandNode,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { type Derived, derive, type Stdin } from './derive.js';
import { changeDirectory, START, union } from './directories.js';
import { deriveByAssignment } from './programs.js';
import {
  type FileRedirect,
  MAX_COMMAND_LENGTH,
  type OpaqueMode,
  type OpaquePart,
  type ShellAssignment,
  type ShellCommand,
  type ShellDirectories,
  type ShellWord,
  UNKNOWN,
  type Via,
} from './types.js';
import { describeWord, printedBy, readAssignment, readName, readWord } from './words.js';

const MAX_DEPTH = 8;
const MAX_READINGS = 24;
const MAX_COMMANDS = 2_000;

const SUBSCRIPT = /\[.*(\$\(|`)/s;

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

export interface Walked {
  readonly commands: ShellCommand[];
  readonly nested: ShellCommand[];
  readonly redirects: FileRedirect[];
  readonly opaque: OpaquePart[];
  readonly blockers: string[];
  changesDirectory: boolean;
  /** Why the text must count as unparsable after all. */
  broken: string | null;
}

interface Scope {
  /** The text that positions of nodes point into. */
  readonly source: string;
  directories: ShellDirectories;
  readonly stdin: Stdin | null;
  readonly via: Via | null;
  readonly timed: boolean;
  readonly depth: number;
}

/** Collects every command, redirection and blind spot of a parsed script. */
export function walkScript(script: ParsedScript, source: string, mode: OpaqueMode, cwd: string | undefined): Walked {
  const walked: Walked = { commands: [], nested: [], redirects: [], opaque: [], blockers: [], changesDirectory: false, broken: null };
  const variables = new Map<string, string[]>();
  const aliases = new Map<string, string[]>();
  const blockers = new Set<string>();

  walkParsed(script, { source, directories: START, stdin: null, via: null, timed: false, depth: 0 });
  walked.blockers.push(...blockers);
  return walked;

  function walkParsed(parsed: ParsedScript, scope: Scope): void {
    if (parsed.errors !== undefined && parsed.errors.length > 0) walked.broken ??= parsed.errors[0]?.message ?? 'it does not parse';
    const text = parsed.source ?? scope.source;
    if (/=|\bfor\b|\bselect\b/.test(text)) collectVariables(parsed);
    walkStatements(parsed.commands, { ...scope, source: text });
  }

  function collectVariables(node: SyntaxNode): void {
    if (node.type === 'Assignment') assign(node.name, node.value.type === 'Word' ? readWord(node.value, variables) : []);
    if (node.type === 'For' || node.type === 'Select')
      for (const word of node.wordlist ?? []) assign(node.name.value, readWord(word, variables));
    forEachChild(node, collectVariables);
  }

  function assign(name: string, alternatives: readonly (readonly string[])[]): void {
    const values = variables.get(name) ?? [];
    for (const fields of alternatives) {
      const value = fields.join(' ');
      if (!value.includes(UNKNOWN) && !values.includes(value) && values.length < 8) values.push(value);
    }
    variables.set(name, values);
  }

  function walkStatements(statements: readonly Statement[], scope: Scope): void {
    for (const statement of statements) {
      if (statement.background === true) blockers.add('runs in the background');
      const before = scope.directories;
      walkNode(statement.command, scope);
      if (statement.background === true) scope.directories = before;
      // A `cd` that fails leaves what follows where it was.
      else scope.directories = union(scope.directories, before);
    }
  }

  function walkList(list: CompoundList, scope: Scope): void {
    walkStatements(list.commands, scope);
  }

  function walkNode(node: PipelineNode | Statement['command'], scope: Scope): void {
    if (node.type === 'AndOr') {
      let before = scope.directories;
      node.commands.forEach((part, index) => {
        if (node.operators[index - 1] === '||') scope.directories = union(scope.directories, before);
        before = scope.directories;
        walkNode(part, scope);
      });
      return;
    }
    if (node.type !== 'Pipeline') {
      walkCommandNode(node, scope);
      return;
    }
    const timed = scope.timed || node.prefixes.some((prefix) => prefix.type === 'Time');
    let stdin = scope.stdin;
    for (const command of node.commands) {
      const stage: Scope = { ...scope, stdin, timed };
      walkCommandNode(command, stage);
      if (node.commands.length === 1) scope.directories = stage.directories;
      stdin = outputOf(command);
    }
  }

  /** What a pipeline stage hands to the next. */
  function outputOf(node: CommandNode): Stdin {
    const unknown: Stdin = { kind: 'unknown', from: 'the command before it' };
    if (node.type !== 'Command' || node.name === undefined) return unknown;
    const words = [node.name, ...node.args]
      .map((word) => (word.type === 'Word' ? readWord(word, variables)[0] : [word.text]))
      .flatMap((fields) => fields ?? []);
    if (words[0] === 'cat' && words.length === 1) return inputOf(node.redirects) ?? unknown;
    const text = node.redirects.length > 0 ? null : printedBy(words);
    return text === null ? unknown : { kind: 'text', text };
  }

  function inputOf(redirects: readonly Redirection[]): Stdin | null {
    let stdin: Stdin | null = null;
    for (const redirect of redirects) {
      if (redirect.type === 'HereString') {
        const text = redirect.target === undefined ? '' : (readWord(redirect.target, variables)[0] ?? []).join(' ');
        stdin = { kind: 'text', text };
      } else if (redirect.type === 'HereDoc') {
        stdin = { kind: 'text', text: redirect.body.text };
      } else if (redirect.operator === '<' || redirect.operator === '<>') {
        stdin = { kind: 'unknown', from: `the file ${redirect.target?.text ?? ''}`.trim() };
      }
    }
    return stdin;
  }

  function walkCommandNode(node: CommandNode, scope: Scope): void {
    switch (node.type) {
      case 'Command':
        walkCommand(node, scope);
        return;
      case 'Redirected': {
        walkRedirects(node.redirects, scope);
        const inner: Scope = { ...scope, stdin: inputOf(node.redirects) ?? scope.stdin };
        walkCommandNode(node.command, inner);
        scope.directories = inner.directories;
        return;
      }
      case 'Subshell':
        blockers.add('has a subshell');
        walkList(node.body, { ...scope });
        return;
      case 'BraceGroup':
        blockers.add('has a { … } group');
        walkList(node.body, scope);
        return;
      case 'If':
        branches(scope, [
          (inner) => {
            walkList(node.clause, inner);
            walkList(node.then, inner);
          },
          ...node.elif.map((branch) => (inner: Scope) => {
            walkList(branch.clause, inner);
            walkList(branch.then, inner);
          }),
          (inner) => {
            if (node.else !== undefined) walkList(node.else, inner);
          },
        ]);
        return;
      case 'While':
        loop(node, scope, (inner) => {
          walkList(node.clause, inner);
          walkList(node.body, inner);
        });
        return;
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) checkWord(word, scope);
        if (node.wordlist === undefined) blockers.add("loops over the shell's arguments");
        loop(node, scope, (inner) => walkList(node.body, inner));
        return;
      case 'ArithmeticFor':
      case 'ArithmeticCommand':
        blockers.add('computes with (( ))');
        if (node.type === 'ArithmeticFor') loop(node, scope, (inner) => walkList(node.body, inner));
        walkExpansions(node, scope);
        return;
      case 'Case':
        checkWord(node.word, scope);
        branches(
          scope,
          node.items.map((item) => (inner: Scope) => {
            for (const pattern of item.pattern) checkWord(pattern, inner);
            walkList(item.body, inner);
          }),
        );
        return;
      case 'TestCommand':
        walkWords(node.expression, scope);
        return;
      case 'Function':
        blockers.add('defines a function');
        if (node.body.type === 'CompoundList') walkList(node.body, { ...scope });
        else walkCommandNode(node.body, { ...scope });
        return;
      case 'Coproc':
        blockers.add('starts a coprocess');
        if (node.body.type === 'CompoundList') walkList(node.body, { ...scope, via: scope.via ?? 'coproc' });
        else walkCommandNode(node.body, { ...scope, via: scope.via ?? 'coproc' });
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

  function walkCommand(node: Extract<CommandNode, { type: 'Command' }>, scope: Scope): void {
    walkRedirects(node.redirects, scope);
    const assignments = node.prefix
      .filter((part): part is Assignment => part.type === 'Assignment')
      .map((part) => checkAssignment(part, scope));
    if (node.name === undefined) {
      if (assignments.length > 0) blockers.add(`sets the variable ${assignments[0]?.name ?? ''}`);
      return;
    }
    const words: ShellWord[] = [checkWord(node.name, scope)];
    let readings: string[][] = readName(node.name, variables);
    for (const arg of node.args) {
      let options: string[][];
      if (arg.type === 'Word') {
        words.push(checkWord(arg, scope));
        options = readWord(arg, variables);
      } else {
        const { value } = checkAssignment(arg, scope);
        words.push({
          text: arg.text,
          value: value === null ? null : `${arg.name}${arg.append === true ? '+' : ''}=${value}`,
          glob: false,
          tilde: false,
        });
        options = readAssignment(arg, variables);
      }
      const next: string[][] = [];
      for (const head of readings) for (const option of options) if (next.length < MAX_READINGS) next.push([...head, ...option]);
      readings = next;
    }
    const first = readings[0]?.[0];
    for (const reading of readings) {
      const meaning = aliases.get(reading[0] ?? '');
      if (meaning !== undefined)
        readings = [...readings, ...meaning.map((text) => [...text.split(/\s+/), ...reading.slice(1)])].slice(0, MAX_READINGS);
    }
    if (first === 'alias') {
      for (const arg of readings[0]?.slice(1) ?? []) {
        const at = arg.indexOf('=');
        if (at > 0) aliases.set(arg.slice(0, at), [...(aliases.get(arg.slice(0, at)) ?? []), arg.slice(at + 1)]);
      }
    }
    const end = words.length;
    const text = sourceText([node.name, ...node.args], scope.source);
    const prefix = node.prefix.filter((part) => part.type === 'Assignment').map((part) => part.text);
    push(
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
      { ...scope, stdin: inputOf(node.redirects) ?? scope.stdin },
    );
    for (const reading of readings) {
      const moved = changeDirectory(scope.directories, reading, cwd);
      if (moved === null) continue;
      walked.changesDirectory = true;
      scope.directories = moved;
      break;
    }
  }

  function push(command: ShellCommand, scope: Scope): void {
    if (walked.commands.length + walked.nested.length > MAX_COMMANDS) {
      walked.broken ??= 'it holds too many commands to look at';
      return;
    }
    (command.via === null || command.via === 'coproc' ? walked.commands : walked.nested).push(command);
    if (scope.depth >= MAX_DEPTH) {
      walked.opaque.push({ text: command.text, reason: 'commands are nested too deep to look at' });
      return;
    }
    for (const reading of command.readings) {
      if ((reading[0] ?? '').includes(UNKNOWN)) {
        walked.opaque.push({ text: command.text, reason: `which program ${shorten(command.text)} runs is only known when it runs` });
      }
      for (const found of derive(reading, scope.stdin)) follow(found, command, scope);
    }
    for (const { name, value } of command.assignments) {
      if (value !== null) for (const found of deriveByAssignment(name, value)) follow(found, command, scope);
    }
  }

  function follow(found: Derived, command: ShellCommand, scope: Scope): void {
    if (mode === 'claude-code' && (found.kind === 'opaque' || !found.plain)) {
      if (found.kind === 'script' && found.via === 'script')
        walked.opaque.push({ text: command.text, reason: 'a shell runs the text after -c' });
      return;
    }
    if (found.kind === 'opaque') walked.opaque.push({ text: command.text, reason: found.reason });
    else if (found.kind === 'argv') pushArgv(found.argv, found.via, command, scope);
    else pushScript(found.script, found.via, command, scope);
  }

  function pushArgv(argv: readonly string[], via: Via, from: ShellCommand, scope: Scope): void {
    const text = argv.join(' ').replaceAll(UNKNOWN, '…');
    const words = argv.map((value) => ({
      text: value,
      value: value.includes(UNKNOWN) ? null : value,
      glob: false,
      tilde: value.startsWith('~'),
    }));
    const command: ShellCommand = { ...from, text, ruleText: text, assignments: [], words, redirects: [], readings: [argv], via };
    push(command, { ...scope, via, depth: scope.depth + 1 });
  }

  function pushScript(text: string, via: Via, from: ShellCommand, scope: Scope): void {
    const script = text.replaceAll(UNKNOWN, '$_');
    if (script.length > MAX_COMMAND_LENGTH) return;
    const parsed = parse(script);
    if (parsed.errors !== undefined && parsed.errors.length > 0) {
      walked.opaque.push({ text: from.text, reason: `${shorten(text.replaceAll(UNKNOWN, '…'))} does not parse as a command` });
    }
    // Its own structure is no concern of allow rules: those speak of the command around it.
    const outside = new Set(blockers);
    const broken = walked.broken;
    walkParsed(parsed, { source: script, directories: scope.directories, stdin: scope.stdin, via, timed: false, depth: scope.depth + 1 });
    walked.broken = broken;
    for (const blocker of blockers) if (!outside.has(blocker)) blockers.delete(blocker);
  }

  function checkWord(word: Word, scope: Scope): ShellWord {
    const described = describeWord(word);
    for (const blocker of described.blockers) blockers.add(blocker);
    walkExpansions(word, scope);
    return described;
  }

  function checkAssignment(assignment: Assignment, scope: Scope): ShellAssignment {
    if (assignment.index !== undefined) checkWord(assignment.index, scope);
    if (assignment.value.type === 'ArrayValue') {
      for (const element of assignment.value.elements) checkWord(element, scope);
      blockers.add(`sets the array ${assignment.name}`);
      return { name: assignment.name, value: null };
    }
    const { value } = checkWord(assignment.value, scope);
    if (value !== null) followSubscript(value, scope);
    return { name: assignment.name, value };
  }

  /** Where the shell computes with a variable, it runs the substitutions in a subscript that the value holds. */
  function followSubscript(value: string, scope: Scope): void {
    if (!SUBSCRIPT.test(value)) return;
    const from: ShellCommand = { ...NO_COMMAND, text: value, directories: scope.directories };
    pushScript(`: ${value}`, 'eval', from, { ...scope, depth: scope.depth + 1 });
  }

  function walkWords(node: SyntaxNode, scope: Scope): void {
    forEachChild(node, (child) => {
      if (child.type === 'Word') followSubscript(checkWord(child, scope).value ?? '', scope);
      else walkWords(child, scope);
    });
  }

  /** Scripts inside a word: `$(…)`, backticks, `<(…)`, also inside arithmetic. */
  function walkExpansions(node: SyntaxNode, scope: Scope): void {
    if (node.type === 'Word' && node.parts === undefined) return;
    forEachChild(node, (child) => {
      if (child.type === 'ParameterExpansion' && child.operation?.type === 'Transform' && child.operation.operand.text === 'P') {
        walked.opaque.push({ text: child.text, reason: `${child.text} runs the substitutions in a variable's value` });
      }
      if (child.type === 'Script') walkParsed(child, { ...scope, stdin: null, via: scope.via, timed: false, depth: scope.depth + 1 });
      else walkExpansions(child, scope);
    });
  }

  function walkRedirects(redirects: readonly Redirection[], scope: Scope): void {
    for (const redirect of redirects) {
      if (redirect.descriptor?.type === 'FileDescriptorVariable') blockers.add('opens a file descriptor by a variable');
      if (redirect.type === 'HereDoc') {
        const parts = redirect.body.parts ?? [];
        for (const part of parts) {
          if (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion') blockers.add(`uses the variable ${part.text}`);
          if (part.type === 'CommandExpansion') blockers.add('has a command substitution');
        }
        walkExpansions(redirect.body, scope);
        continue;
      }
      if (redirect.target === undefined) {
        walked.broken ??= 'a redirection has no target';
        continue;
      }
      const word = checkWord(redirect.target, scope);
      if (redirect.type === 'HereString') continue;
      if ((redirect.operator === '>&' || redirect.operator === '<&') && /^(\d+-?|-)$/.test(word.value ?? '')) continue;
      if (redirect.operator === '<&') {
        blockers.add('copies a file descriptor that only the shell knows');
        continue;
      }
      walked.redirects.push({
        access: redirect.operator === '<' ? 'read' : 'write',
        operator: redirect.operator,
        text: word.text,
        target: word.value,
        glob: word.glob,
        tilde: word.tilde,
        directories: scope.directories,
      });
    }
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

function shorten(text: string): string {
  const line = (text.split('\n')[0] ?? '').replaceAll('$_', '…');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line;
}
