import { posix } from 'node:path';
import { baseOf, type CallAspect, NO_ASPECT, type PermissionCall, type PermissionState } from './call.js';
import { absolutePath, drivePath, isUncPath, type PathForms, pathForms } from './paths.js';
import { protectedReason } from './protectedPaths.js';
import { PATH_TOOLS, type PathAccess } from './toolNames.js';
import type { PermissionUpdate, RuleMatch } from './types.js';

/** Tools that look through a whole directory. */
const SEARCHES: ReadonlySet<string> = new Set(['Glob', 'Grep', 'LS']);

/** What path rules, working directories and protected paths say of a file tool's call. */
export function pathAspect(call: PermissionCall, state: PermissionState): CallAspect {
  const tool = PATH_TOOLS.get(call.toolName);
  const written = tool === undefined ? [] : pathsOf(call, tool);
  if (tool === undefined || written.length === 0) return NO_ASPECT;
  const base = baseOf(state);
  const forms = written.map((path) => formsOf(path, state));
  const looped = forms.find(({ loops }) => loops);
  if (looped !== undefined) return { ...NO_ASPECT, refusal: `${looped.path} leads in a circle of symbolic links` };

  const { deny, ask, allow } = state.rules;
  const wholeDirectory = SEARCHES.has(call.toolName);
  const first = (match: (one: PathForms) => RuleMatch | null): RuleMatch | null => forms.map(match).find((found) => found !== null) ?? null;
  const inside = forms.every((one) => state.directories.contain(one));
  const outside = inside ? undefined : forms.find((one) => !state.directories.contain(one));
  const blocked = outside?.path ?? null;
  const targets = forms.map(({ path, target }) => ({ path, target }));

  if (tool.access === 'read') {
    const internal = forms.every((one) => state.directories.contain(one) || state.internalDirectories?.contain(one) === true);
    return {
      ...NO_ASPECT,
      deny: first((one) => deny.read.match(one, wholeDirectory)),
      ask: first((one) => ask.read.match(one, wholeDirectory)),
      allow: everyAllowed(forms, (one) => readAllowed(one, state, wholeDirectory)),
      safety: uncFinding(written),
      refusal: state.outsideReadsBlocked === true && !internal ? `${outsideText(blocked) ?? 'It'}, and settings block reading there` : null,
      builtIn: internal ? 'Reads inside the working directories need no rule' : null,
      blockedPath: blocked,
      uncovered: outsideText(blocked),
      targets,
      suggestions: blocked === null ? [] : readSuggestions(blocked, wholeDirectory),
    };
  }
  const path = absolutePath(written[0] ?? '', base);
  const protection = forms
    .flatMap(({ all }) => all)
    .map((form) => protectedReason(form, state.configDirs))
    .find((reason) => reason !== null);
  return {
    ...NO_ASPECT,
    deny:
      first((one) => deny.edit.match(one)) ?? (call.toolName === 'NotebookEdit' ? null : first((one) => readDenyCoversEdit(one, state))),
    ask: first((one) => ask.edit.match(one)),
    allow: everyAllowed(forms, (one) => allow.edit.match(one)),
    safety:
      uncFinding(written) ?? (protection === undefined ? null : { kind: 'protectedPath', reason: protection, path, bypassable: true }),
    writes: true,
    acceptEdits: inside ? 'Edits inside the working directories' : null,
    blockedPath: blocked,
    uncovered: outsideText(blocked),
    targets,
    suggestions: editSuggestions(blocked),
  };
}

function pathsOf(call: PermissionCall, tool: { readonly fields: readonly string[]; readonly defaultsToCwd: boolean }): string[] {
  const named = tool.fields.map((field) => call.input[field]).find((value): value is string => typeof value === 'string' && value !== '');
  const paths = named !== undefined ? [named] : tool.defaultsToCwd ? ['.'] : [];
  const { pattern } = call.input;
  // A glob may leave the directory that it is given.
  if (call.toolName === 'Glob' && typeof pattern === 'string' && /^(?:[/~]|[A-Za-z]:)|(?:^|\/)\.\.(?:\/|$)/.test(pattern)) {
    const fixed = pattern.replace(/\/?[^/]*[*?[{].*$/s, '');
    paths.push(/^[/~]/.test(pattern) ? fixed || '/' : posix.join(paths[0] ?? '.', fixed));
  }
  return paths;
}

/** All forms of a path. A drive counts as a directory on every system, so that a rule for it holds wherever it is read. */
export function formsOf(path: string, state: PermissionState): PathForms {
  const forms = pathForms(absolutePath(path, baseOf(state)), state.fs);
  const drive = drivePath(path);
  return drive === null || forms.all.includes(drive) ? forms : { ...forms, all: [...forms.all, drive] };
}

const everyAllowed = (forms: readonly PathForms[], match: (one: PathForms) => RuleMatch | null): RuleMatch | null => {
  const matches = forms.map(match);
  return matches.every((found) => found !== null) ? (matches[0] ?? null) : null;
};

/** A rule that allows editing a file allows reading it. */
export const readAllowed = (forms: PathForms, state: PermissionState, wholeDirectory = false): RuleMatch | null =>
  state.rules.allow.read.match(forms, wholeDirectory) ?? state.rules.allow.edit.match(forms, wholeDirectory);

/** A file that must not be read must not be edited either. */
export function readDenyCoversEdit(forms: PathForms, state: PermissionState): RuleMatch | null {
  const found = state.rules.deny.read.match(forms);
  return found === null
    ? null
    : { ...found, matched: `${found.matched ?? forms.path} (a file covered by a Read deny rule cannot be edited)` };
}

export const outsideText = (path: string | null): string | null => (path === null ? null : `${path} lies outside the working directories`);

function uncFinding(paths: readonly string[]): CallAspect['safety'] {
  const share = paths.find(isUncPath);
  return share === undefined
    ? null
    : { kind: 'other', reason: `${share} lies on another machine, which would learn who asks`, path: share, bypassable: false };
}

const directoryRule = (access: PathAccess, directory: string): PermissionUpdate => ({
  type: 'addRules',
  rules: [{ toolName: access === 'read' ? 'Read' : 'Edit', ruleContent: `/${directory === '/' ? '' : directory}/**` }],
  behavior: 'allow',
  destination: 'session',
});

const readSuggestions = (path: string, isDirectory: boolean): PermissionUpdate[] => [
  directoryRule('read', isDirectory ? path : posix.dirname(path)),
];

function editSuggestions(blocked: string | null): PermissionUpdate[] {
  const acceptEdits: PermissionUpdate = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };
  if (blocked === null) return [acceptEdits];
  return [acceptEdits, { type: 'addDirectories', directories: [posix.dirname(blocked)], destination: 'session' }];
}
