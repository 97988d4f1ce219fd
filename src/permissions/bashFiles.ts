import type { PermissionState } from './call.js';
import { readDenyCoversEdit } from './pathAspect.js';
import type { PathRuleSet } from './pathRules.js';
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
  for (const { access, forms } of files) {
    for (const one of forms) {
      const found =
        access.access === 'enter'
          ? (deny.cd.match(one) ?? deny.read.match(one))
          : access.access === 'read'
            ? deny.read.match(one)
            : (deny.edit.match(one) ?? readDenyCoversEdit(one, state));
      if (found !== null) return found;
    }
  }
  return null;
}

/** Whoever removes or moves a directory does so to the denied files in it. */
export function denyInside(removed: readonly NamedFile[], { rules: { deny } }: PermissionState): RuleMatch | null {
  return insideOf(removed, deny.edit) ?? insideOf(removed, deny.read);
}

export function insideOf(removed: readonly NamedFile[], rules: PathRuleSet): RuleMatch | null {
  for (const { forms } of removed) {
    for (const one of forms) {
      const found = rules.within(one);
      if (found !== null) return found;
    }
  }
  return null;
}

export function askOnFiles(files: readonly NamedFile[], state: PermissionState): RuleMatch | null {
  const { ask } = state.rules;
  for (const { access, forms } of files) {
    for (const one of forms) {
      const found = access.access === 'enter' ? ask.cd.match(one) : access.access === 'read' ? ask.read.match(one) : ask.edit.match(one);
      if (found !== null) return found;
    }
  }
  return null;
}
