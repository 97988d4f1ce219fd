import { coversForAllow } from './allow.js';
import { parseSed, plainSubstitution } from './sed.js';
import type { ShellAnalysis, ShellCommand } from './types.js';

const EDITS = ['mkdir', 'touch', 'rm', 'rmdir', 'mv', 'cp', 'sed'] as const;

/**
 * A file command that acceptEdits runs unasked inside the working directories, by itself or behind the documented wrappers and
 * known-safe variables (Claude Code docs, permission modes). Where it writes is asked separately (see `fileAccesses`).
 */
export function acceptEditsCommand(command: ShellCommand, analysis: ShellAnalysis): string | null {
  if (analysis.kind === 'unparsable' || analysis.blockers.length > 0) return null;
  const name = EDITS.find((program) => coversForAllow(command, `${program} *`));
  if (name === undefined || command.words.some((word) => word.value === null)) return null;
  const argv = command.words.map((word) => word.value ?? '');
  // Which files `xargs` hands on is not shown.
  if (argv.includes('xargs')) return null;
  if (name === 'sed' && !plainSed(argv.slice(argv.indexOf('sed') + 1))) return null;
  return name;
}

function plainSed(args: readonly string[]): boolean {
  const call = parseSed(args);
  return !call.odd && call.scripts.length > 0 && call.scripts.every((script) => plainSubstitution(script) || /^[\d,$]*[dp]$/.test(script));
}
