import type { PermissionState } from './call.js';
import { readDenyCoversEdit } from './pathAspect.js';
import type { PathForms } from './paths.js';
import type { FileAccess } from './shell/index.js';
import type { RuleMatch } from './types.js';

/** A file that the command names, with everything the file system says of its path. `forms` is empty where only the running shell knows it. */
export interface NamedFile {
  readonly access: FileAccess;
  readonly forms: readonly PathForms[];
}

/** Deny rules for files hold for every file that the command is seen to touch. */
export function denyOnFiles(files: readonly NamedFile[], state: PermissionState): RuleMatch | null {
  const { deny } = state.rules;
  return firstOn(files, (access, one) => {
    if (access === 'enter') return deny.cd.match(one) ?? deny.read.match(one);
    return access === 'read' ? deny.read.match(one) : (deny.edit.match(one) ?? readDenyCoversEdit(one, state));
  });
}

export function askOnFiles(files: readonly NamedFile[], state: PermissionState): RuleMatch | null {
  const { ask } = state.rules;
  return firstOn(files, (access, one) => {
    if (access === 'enter') return ask.cd.match(one);
    return access === 'read' ? ask.read.match(one) : ask.edit.match(one);
  });
}

function firstOn(
  files: readonly NamedFile[],
  match: (access: FileAccess['access'], forms: PathForms) => RuleMatch | null,
): RuleMatch | null {
  for (const { access, forms } of files) {
    for (const one of forms) {
      const found = match(access.access, one);
      if (found !== null) return found;
    }
  }
  return null;
}
