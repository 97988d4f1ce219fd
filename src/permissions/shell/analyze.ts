import { type ParsedScript, parse } from 'unbash';
import { type AnalyzeOptions, MAX_COMMAND_LENGTH, type ShellAnalysis, type ShellCommand } from './types.js';
import { walkScript } from './walk.js';

const CACHE_SIZE = 64;
const cache = new Map<string, ShellAnalysis>();

/** Everything that permission rules must know of a bash command. Never throws: what cannot be analysed is `unparsable` and asks. */
export function analyzeCommand(command: string, options: AnalyzeOptions = {}): ShellAnalysis {
  const mode = options.opaque ?? 'strict';
  const key = `${mode}\n${options.cwd ?? ''}\n${command}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const analysis = analyze(command, mode, options.cwd);
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(key, analysis);
  return analysis;
}

function analyze(command: string, mode: ShellAnalysis['mode'], cwd: string | undefined): ShellAnalysis {
  const text = command.trim();
  const unparsable = (reason: string): ShellAnalysis => ({
    kind: 'unparsable',
    reason,
    text,
    commands: [],
    nested: [],
    redirects: [],
    changesDirectory: false,
    assigned: [],
    blockers: [],
    opaque: [],
    mode,
  });
  if (command.length > MAX_COMMAND_LENGTH) return unparsable(`it is longer than ${MAX_COMMAND_LENGTH.toLocaleString('en')} characters`);
  const hidden = hiddenCharacter(command);
  if (hidden !== null) return unparsable(hidden);
  let parsed: ParsedScript;
  try {
    parsed = parse(command);
    const walked = walkScript(parsed, command, mode, cwd);
    const broken = walked.broken;
    const blockers = [...walked.blockers];
    const finish = (one: ShellCommand): ShellCommand => ({ ...one, blockers });
    const analysis: ShellAnalysis = {
      kind: broken === null ? 'parsed' : 'unparsable',
      ...(broken === null ? {} : { reason: broken }),
      text,
      commands: walked.commands.map(finish),
      nested: walked.nested,
      redirects: walked.redirects,
      changesDirectory: walked.changesDirectory,
      assigned: [...walked.assigned],
      blockers,
      opaque: dedupe(walked.opaque),
      mode,
    };
    return analysis;
  } catch {
    return unparsable('it does not parse');
  }
}

/** Characters that a terminal does not show as what the shell reads. */
function hiddenCharacter(command: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(command)) return 'it holds a control character';
  if (/[\u00a0\u1680\u2000-\u200f\u2028-\u202f\u205f\u2060-\u2069\u3000\ufeff]/.test(command))
    return 'it holds an invisible or unusual blank character';
  return null;
}

function dedupe<Part extends { readonly text: string; readonly reason: string }>(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.filter((part) => {
    const key = `${part.text}\n${part.reason}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
