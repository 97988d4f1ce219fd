import type { PermissionMode } from '../permissions/types.js';
import { at } from './jsonc.js';
import { MODE_NAMES } from './schema.js';
import { needsTrust, type Source } from './source.js';
import type { SettingsProblem } from './types.js';

const MODES: Readonly<Record<(typeof MODE_NAMES)[number], PermissionMode>> = {
  default: 'default',
  manual: 'default',
  delegate: 'default',
  acceptEdits: 'acceptEdits',
  plan: 'plan',
  auto: 'auto',
  dontAsk: 'dontAsk',
  bypassPermissions: 'bypassPermissions',
};

/** A mode by its name or an alias of it; undefined when there is none. */
export const parseMode = (name: unknown): PermissionMode | undefined => {
  const known = MODE_NAMES.find((candidate) => candidate === name);
  return known === undefined ? undefined : MODES[known];
};

interface ModeLimits {
  readonly bypassDisabled: boolean;
  readonly autoDisabled: boolean;
  readonly trusted: boolean;
}

/** The strongest scope's mode. A repository must not talk its reader out of being asked (Claude Code docs, permission modes). */
export function chooseMode(strongest: readonly Source[], limits: ModeLimits, problems: SettingsProblem[]): PermissionMode {
  for (const source of strongest) {
    const { scope, file, document } = source;
    const mode = parseMode(at(document.value.permissions, 'defaultMode'));
    if (mode === undefined) continue;
    const refusal = modeRefusal(mode, source, limits);
    if (refusal === null) return mode;
    problems.push({
      severity: 'warning',
      scope,
      ...(file === undefined ? {} : { file, line: document.lineOf(['permissions', 'defaultMode']) }),
      path: 'permissions.defaultMode',
      message: refusal,
    });
    if (mode !== 'acceptEdits') return 'default';
  }
  return 'default';
}

function modeRefusal(mode: PermissionMode, source: Source, { bypassDisabled, autoDisabled, trusted }: ModeLimits): string | null {
  if ((mode === 'bypassPermissions' && bypassDisabled) || (mode === 'auto' && autoDisabled))
    return `Mode ${mode} is disabled by settings; mode default is used`;
  if (!needsTrust(source)) return null;
  if (mode === 'bypassPermissions' || mode === 'auto')
    return `Mode ${mode} has no effect in a project's settings; mode default is used. Set it in your own settings or by a flag`;
  return mode === 'acceptEdits' && !trusted ? `The mode of a project that is not trusted is ignored; trust the project to use it` : null;
}
