import { type ConfiguredHook, commandText } from './config-types.js';
import type { HookEffects, RawOutcome } from './effects.js';
import { clip, RUN_OUTPUT_CLIP } from './limits.js';
import type { HookRun } from './types.js';

/** The record of one run: what ran, how it ended, what it said. */
export function runRecord(hook: ConfiguredHook, id: string, ms: number, raw: RawOutcome, effects: HookEffects): HookRun {
  const { handler, origin } = hook;
  const output = outputOf(raw);
  const wrote = (['updatedInput', 'updatedToolOutput', 'updatedMCPToolOutput'] as const).filter((field) => effects[field] !== undefined);
  const exitCode = raw.kind === 'exit' ? raw.code : undefined;
  return {
    id,
    event: hook.event,
    name: hook.name,
    handler: handler.type,
    ...(handler.type === 'command' ? { command: clip(commandText(handler), RUN_OUTPUT_CLIP) } : {}),
    ms: Math.round(ms),
    ...(exitCode === undefined ? {} : { exitCode }),
    status: effects.status,
    ...(effects.decision === undefined ? {} : { verdict: effects.decision.behavior }),
    ...(output === '' ? {} : { output: clip(output, RUN_OUTPUT_CLIP) }),
    ...(effects.notices.length === 0 ? {} : { notice: effects.notices.join('\n') }),
    origin: `${origin.file ?? origin.scope} ${origin.path}`,
    ...(wrote.length === 0 ? {} : { wrote }),
    ...(raw.kind === 'background' ? { async: true } : {}),
  };
}

function outputOf(raw: RawOutcome): string {
  switch (raw.kind) {
    case 'exit':
      return [raw.stdout.trim(), raw.stderr.trim()].filter((text) => text !== '').join('\n');
    case 'text':
      return raw.text.trim();
    case 'value':
      return printable(raw.value);
    case 'judgement':
      return JSON.stringify({ ok: raw.ok, reason: raw.reason });
    case 'failed':
      return raw.output?.trim() ?? '';
    default:
      return '';
  }
}

function printable(value: unknown): string {
  try {
    return value === undefined ? '' : (JSON.stringify(value) ?? '');
  } catch {
    return String(value);
  }
}
