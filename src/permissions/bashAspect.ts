import { askOnFiles, denyOnFiles, type NamedFile } from './bashFiles.js';
import { type CallAspect, NO_ASPECT, type PermissionCall, type PermissionState } from './call.js';
import { expandGlob } from './globs.js';
import { survivesAuto } from './modes.js';
import { formsOf, outsideText, readAllowed } from './pathAspect.js';
import { climb, type PathForms } from './paths.js';
import { protectedReason } from './protectedPaths.js';
import {
  analyzeCommand,
  type Coverage,
  coverage,
  criticalRemoval,
  type FileAccess,
  fileAccesses,
  matchesDenyOrAsk,
  mayMatchDenyOrAsk,
  type ShellAnalysis,
  suggestRules,
} from './shell/index.js';
import type { RuleMatch } from './types.js';

/** What Bash rules, path rules and the built-in lists say of a command. */
export function bashAspect(call: PermissionCall, state: PermissionState, wholeToolAllow: RuleMatch | null): CallAspect {
  const { command } = call.input;
  if (typeof command !== 'string') return NO_ASPECT;
  const analysis = analyzeCommand(command, { cwd: state.cwd, opaque: state.opaque ?? 'strict' });
  const files = fileAccesses(analysis).map((access): NamedFile => ({ access, forms: formsOfAccess(access, state) }));
  const contents = allowContents(state, wholeToolAllow);
  const unaided = judge(coverage(analysis, { allow: [] }), files, state, false);
  const plain = judge(coverage(analysis, { allow: contents }), files, state, false);
  const edits =
    state.mode === 'acceptEdits' && !plain.suffices
      ? judge(coverage(analysis, { allow: contents, acceptEdits: true }), files, state, true)
      : null;
  const safety = safetyOf(analysis, files, state);
  // A person is asked about a critical removal whatever lies inside.
  const removed = safety?.kind === 'criticalRemoval' ? [] : files.flatMap(({ access, forms }) => (takesContents(access) ? forms : []));
  const { deny, ask } = state.rules;
  return {
    deny: ruleSpeaks(analysis, state, 'deny') ?? denyOnFiles(files, state) ?? deny.edit.within(removed) ?? deny.read.within(removed),
    ask: ruleSpeaks(analysis, state, 'ask') ?? askOnFiles(files, state) ?? ask.edit.within(removed),
    allow: plain.suffices ? (ruleFor(plain.rule, state, wholeToolAllow) ?? plain.fileRule) : null,
    safety,
    builtIn: unaided.suffices && unaided.fileRule === null ? 'Only reads, inside the working directories' : null,
    refusal: null,
    writes: !(unaided.suffices && files.every(({ access: { access, indirect } }) => indirect || access === 'read' || access === 'enter')),
    acceptEdits: edits?.suffices === true ? 'Changes files inside the working directories only' : null,
    blockedPath: plain.blocked?.forms[0]?.path ?? null,
    uncovered: uncoveredPart(edits ?? plain, state),
    suggestions: suggestionsFor(analysis, contents),
  };
}

interface Judgement {
  /** Every command and every file is covered. */
  readonly suffices: boolean;
  /** Content of a rule that covers a command, where one was needed. */
  readonly rule: string | undefined;
  /** A rule that covers a file, where one was needed. */
  readonly fileRule: RuleMatch | null;
  readonly blocked: NamedFile | undefined;
  /** The command that nothing covers, and why; null when it is a file. */
  readonly gap: string | null;
}

function judge(cover: Coverage, files: readonly NamedFile[], state: PermissionState, acceptEdits: boolean): Judgement {
  const blockedFile = files.find((file) => fileCover(file, state, acceptEdits) === null);
  if (!cover.covered) {
    return { suffices: false, rule: undefined, fileRule: null, blocked: blockedFile, gap: `for "${cover.command}" ${cover.reason}` };
  }
  const rule = cover.rules[0];
  if (cover.anything) return { suffices: true, rule, fileRule: null, blocked: undefined, gap: null };
  const fileRule = files.map((file) => fileCover(file, state, acceptEdits)).find((one) => typeof one === 'object' && one !== null);
  return { suffices: blockedFile === undefined, rule, fileRule: fileRule ?? null, blocked: blockedFile, gap: null };
}

/** `find` removes only what its tests leave, `rmdir` no directory with something in it. */
const takesContents = ({ access, command }: FileAccess): boolean => access === 'remove' && command !== 'find' && command !== 'rmdir';

/** What is missing, in words. */
function uncoveredPart({ suffices, gap, blocked }: Judgement, state: PermissionState): string | null {
  if (suffices || gap !== null || blocked === undefined) return gap;
  const outside = blocked.forms.find((one) => !state.directories.contain(one));
  if (outside !== undefined) return outsideText(outside.path);
  const { text } = blocked.access;
  if (blocked.forms.length === 0) return `only the running shell knows the file ${text}`;
  return `it ${blocked.access.access === 'read' ? 'reads from' : 'writes to'} ${text}`;
}

/** Contents of the allow rules that count in this mode. */
function allowContents(state: PermissionState, wholeTool: RuleMatch | null): readonly string[] {
  const counts = (match: RuleMatch): boolean => state.mode !== 'auto' || survivesAuto(match);
  if (wholeTool !== null && counts(wholeTool)) return ['*'];
  return state.rules.allow.bash.filter(counts).map(({ matcher }) => matcher.content);
}

function ruleSpeaks(analysis: ShellAnalysis, state: PermissionState, behavior: 'deny' | 'ask'): RuleMatch | null {
  for (const { rule, matcher } of state.rules[behavior].bash) {
    const matched = matchesDenyOrAsk(analysis, matcher.content);
    if (matched !== null) return { rule, matched };
  }
  return null;
}

function ruleFor(content: string | undefined, state: PermissionState, wholeTool: RuleMatch | null): RuleMatch | null {
  if (content === undefined) return null;
  if (content === '*' && wholeTool !== null) return wholeTool;
  const found = state.rules.allow.bash.find(({ matcher }) => matcher.content === content);
  return found === undefined ? null : { rule: found.rule };
}

/** What covers a file that a single command names: the working directories, a rule, or nothing. */
function fileCover({ access, forms }: NamedFile, state: PermissionState, acceptEdits: boolean): 'directories' | RuleMatch | null {
  if (access.indirect) return 'directories';
  if (forms.length === 0) return null;
  const target = access.redirect && access.access === 'write';
  if (access.redirect && access.glob) return null;
  if (target ? access.text.startsWith('~') : access.redirect && access.moved) return null;
  const covers = forms.map((one): 'directories' | RuleMatch | null => {
    if (one.loops) return null;
    // A command that a rule covers may write here; a redirection is a write of its own.
    if (state.directories.contain(one) && (!target || acceptEdits)) return 'directories';
    return ruleForFile(access, one, state);
  });
  return covers.includes(null) ? null : (covers.find((cover) => cover !== 'directories') ?? 'directories');
}

function ruleForFile({ access }: FileAccess, one: PathForms, state: PermissionState): RuleMatch | null {
  if (access === 'write' || access === 'remove') return state.rules.allow.edit.match(one);
  return (access === 'enter' ? state.rules.allow.cd.match(one) : null) ?? readAllowed(one, state);
}

function safetyOf(analysis: ShellAnalysis, files: readonly NamedFile[], state: PermissionState): CallAspect['safety'] {
  const removal = criticalRemoval(analysis, { cwd: state.cwd, home: state.rules.base.home, directories: state.directories.paths.slice(1) });
  if (removal !== null) return { kind: 'criticalRemoval', reason: removal, bypassable: false };
  const hidden =
    opaqueAgainstRules(analysis, files, state) ?? (state.outsideReadsBlocked === true ? blockedRead(analysis, files, state) : null);
  if (hidden !== null) return hidden;
  if (analysis.kind === 'unparsable') {
    return { kind: 'unparsable', reason: `The command cannot be analysed: ${analysis.reason ?? 'it does not parse'}`, bypassable: true };
  }
  for (const { access, forms } of files) {
    if (access.indirect || (access.access !== 'write' && access.access !== 'remove')) continue;
    for (const path of forms.flatMap(({ all }) => all)) {
      const reason = protectedReason(path, state.configDirs);
      if (reason !== null) return { kind: 'protectedPath', reason, path, bypassable: true };
    }
  }
  return null;
}

/** Settings keep reads inside the working directories: what a command is seen to read outside, or cannot be followed in, asks. */
function blockedRead(analysis: ShellAnalysis, files: readonly NamedFile[], state: PermissionState): CallAspect['safety'] {
  const ask = (reason: string, path?: string): CallAspect['safety'] => ({
    kind: 'outsideDirectories',
    reason: `${reason}, and settings block reading outside the working directories`,
    ...(path === undefined ? {} : { path }),
    bypassable: false,
  });
  const untraced = analysis.kind === 'unparsable' ? 'cannot be analysed' : analysis.blockers[0];
  if (untraced !== undefined) return ask(`What the command reads is not certain, since it ${untraced}`);
  const hidden = analysis.opaque[0];
  if (hidden !== undefined) return ask(`What "${hidden.text}" reads is not certain`);
  for (const { access, forms } of files) {
    if (access.access !== 'read' && access.access !== 'enter') continue;
    const outside = forms.find((one) => !state.directories.contain(one));
    if (outside !== undefined) return ask(`${access.command} reads ${outside.path}`, outside.path);
    if (forms.length === 0) return ask(`Only the running shell knows the file ${access.text}`);
  }
  return null;
}

/** A part that is only known when it runs, and that a deny or ask rule may then speak of: nobody but a person can tell. */
function opaqueAgainstRules(analysis: ShellAnalysis, files: readonly NamedFile[], state: PermissionState): CallAspect['safety'] {
  for (const behavior of ['deny', 'ask'] as const) {
    for (const { rule, matcher } of state.rules[behavior].bash) {
      const part = mayMatchDenyOrAsk(analysis, matcher.content);
      if (part !== null)
        return {
          kind: 'opaqueCommand',
          reason: `"${part}" may turn out to be what ${behavior} rule ${rule.text} speaks of`,
          bypassable: false,
        };
    }
  }
  const { read, edit } = state.rules.deny;
  const unknown = read.isEmpty && edit.isEmpty ? undefined : files.find(({ access, forms }) => forms.length === 0 && !access.indirect);
  return unknown === undefined
    ? null
    : { kind: 'opaqueCommand', reason: `${unknown.access.text} may turn out to be a file that a deny rule covers`, bypassable: true };
}

/** The path of an access, and where the kernel ends up on it; of a glob also every file that it stands for now. */
function formsOfAccess(access: FileAccess, state: PermissionState): PathForms[] {
  if (access.path === null) return [];
  // Claude Code looks at the directory that a glob starts from, not at the files that it stands for.
  if (access.glob && state.opaque === 'claude-code') return [formsOf(access.path.replace(/(?:^|(?<=\/))[^/]*[*?[].*$/s, '') || '.', state)];
  const written = formsOf(access.path, state);
  const climbed = access.climbing === undefined ? written.path : climb(rawAbsolute(access.climbing, state), state.fs);
  const forms = climbed === written.path ? [written] : [written, formsOf(climbed, state)];
  if (!access.glob) return forms;
  const reached = (path: string): boolean => !READ_FILES_ONLY.has(access.command) || state.fs.readdir(path).length === 0;
  return forms.flatMap((one) => [
    one,
    ...expandGlob(one.path, state.fs)
      .filter(reached)
      .map((path) => formsOf(path, state)),
  ]);
}

/** Readers that get nothing out of a directory that a glob hands them beside files. */
const READ_FILES_ONLY: ReadonlySet<string> = new Set(
  'cat tac nl rev head tail wc sort uniq cut paste column fold expand unexpand fmt comm join cksum md5sum sha1sum sha256sum sha512sum base64 xxd od hexdump strings jq awk gawk'.split(
    ' ',
  ),
);

/** Absolute, but with its `..` still in it. */
function rawAbsolute(path: string, { cwd, rules }: PermissionState): string {
  if (path.startsWith('/')) return path;
  return path === '~' || path.startsWith('~/') ? rules.base.home + path.slice(1) : `${cwd}/${path}`;
}

function suggestionsFor(analysis: ShellAnalysis, allowed: readonly string[]): CallAspect['suggestions'] {
  const contents = suggestRules(analysis, allowed);
  if (contents.length === 0) return [];
  return [
    {
      type: 'addRules',
      rules: contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent })),
      behavior: 'allow',
      destination: 'localSettings',
    },
  ];
}
