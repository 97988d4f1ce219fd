import { z } from 'zod';
import { abortedOutcome } from '../../../machines/outcome.js';
import type { CallPortInput, GateAnswer, Report, ToolEnd } from '../../../machines/toolCall.js';
import type { HookResult } from '../../hooks/types.js';
import type { JsonValue } from '../../json.js';
import {
  type CleanResult,
  cleanResult,
  type FinishedResult,
  finishAtOnce,
  finishClean,
  mapResult,
  textSize,
  tryToMap,
} from '../../results/index.js';
import type { AbortReason, CallOutcome } from '../../tool/call.js';
import { messageOf, ToolAbortedError } from '../../tool/errors.js';
import type { CallRecord } from '../callBook.js';
import { asyncPort } from '../port.js';
import type { Services, StoredResult } from '../services.js';
import { observableOf, toolOf } from './gates.js';
import { mcpIdentity } from './permission.js';

interface Reporting extends CallPortInput {
  readonly end: ToolEnd;
  readonly abort: AbortReason | null;
}

/** The draft of the one result where nothing has to wait: no hook wants to see the tool's end, and nothing goes to a file. */
export function mapAtOnce({ callId, end, abort }: Reporting, services: Services): GateAnswer {
  const record = services.calls.get(callId);
  if (hooksFollow(record, end, services)) return { type: 'result.awaited' };
  const clean = cleanOf(record, end, abort, undefined, services);
  const finished = finishAtOnce(callId, clean, toolOf(record).maxResultSizeChars);
  return finished ? { type: 'result.mapped', report: draft(record, clean, finished, undefined) } : { type: 'result.awaited' };
}

/** Hooks see the tool's end, then it is mapped, cleaned, measured and stored as the draft of the one result. */
export const reportResult = asyncPort<Reporting, Report>(async ({ callId, end, abort }, { services, signal }) => {
  const record = services.calls.get(callId);
  const hook = await runPostHooks(record, end, services, signal);
  const clean = cleanOf(record, end, abort, hook, services);
  const finished = await finishClean(callId, clean, toolOf(record).maxResultSizeChars, services.results);
  return draft(record, clean, finished, hook);
});

function draft(record: CallRecord, clean: CleanResult, finished: FinishedResult, hook: HookResult | undefined): Report {
  const reminders = [...(record.hook?.additionalContext ?? []), ...(hook?.additionalContext ?? []), ...feedback(hook)];
  record.draft = { reminders, ...finished };
  record.mapped = undefined;
  const errorLine = clean.isError ? { errorLine: firstLine(clean.content) } : {};
  return { isError: clean.isError, ...errorLine, resultSize: finished.size, preventContinuation: hook?.stop !== undefined };
}

/** Writes the one result of a call: the draft where a tool ran, else a text that says why nothing did. Total. */
export function fixResult(callId: string, outcome: CallOutcome, services: Services): void {
  const record = services.calls.find(callId);
  if (!record || record.result) return;
  record.result = record.draft ?? syntheticResult(record, outcome);
  services.journal({ type: 'call.outcome', callId, outcome });
  try {
    services.calls.writeWithinBudget(record, services.conversation);
  } catch {
    // It is tried again when the turn's results are attached; if it fails there, the query ends with the reason.
  }
  const tool = record.tool?.name ?? record.call.name;
  services.update({ type: 'call.result', callId, tool, outcome, result: record.result.block });
}

function syntheticResult(record: CallRecord, outcome: CallOutcome): StoredResult {
  const { content } = cleanResult({ content: outcome.message ?? outcome.summary });
  return {
    block: { type: 'tool_result', tool_use_id: record.call.id, content, ...(outcome.isError ? { is_error: true } : {}) },
    images: [],
    size: textSize(content),
    reminders: record.hook?.additionalContext ?? [],
  };
}

/**
 * PostToolUse after a success, PostToolUseFailure after a failure (one the tool threw, or one it reported as its result, as Bash does
 * with an exit code); neither for a call that was cut off. A hook that fails takes nothing away.
 */
async function runPostHooks(record: CallRecord, end: ToolEnd, services: Services, signal: AbortSignal): Promise<HookResult | undefined> {
  // Whether it failed is only asked where a hook wants to know: the answer costs a mapping of the output.
  if (!hooksFollow(record, end, services)) return undefined;
  const tool = toolOf(record);
  const failure = failureOf(record, end);
  const event = failure === undefined ? 'PostToolUse' : 'PostToolUseFailure';
  if (!services.hooks.isConfigured(event, tool.name)) return undefined;
  const callId = record.call.id;
  return services.runHooks(
    {
      id: `hook:${event}:${callId}`,
      event,
      subject: tool.name,
      toolUseId: callId,
      payload: {
        tool_name: tool.name,
        tool_input: observableOf(record),
        tool_use_id: callId,
        duration_ms: Math.round(end.durationMs),
        ...(failure === undefined ? { tool_response: plain(outputData(record)) } : { error: middleCut(failure), is_interrupt: false }),
        ...mcpIdentity(record),
      },
    },
    signal,
  );
}

function hooksFollow(record: CallRecord, end: ToolEnd, { hooks }: Services): boolean {
  const { name } = toolOf(record);
  return end.kind !== 'aborted' && (hooks.isConfigured('PostToolUse', name) || hooks.isConfigured('PostToolUseFailure', name));
}

/** Characters of an error that a hook gets; longer ones lose their middle (Claude Code docs, hooks reference). */
const HOOK_ERROR_CHARS = 10_000;

function middleCut(text: string): string {
  const excess = text.length - HOOK_ERROR_CHARS;
  if (excess <= 0) return text;
  const half = HOOK_ERROR_CHARS / 2;
  return `${text.slice(0, half)}... [${excess} characters truncated] ...${text.slice(-half)}`;
}

/** The error's text where the call failed; undefined where it succeeded. */
function failureOf(record: CallRecord, end: ToolEnd): string | undefined {
  if (end.kind === 'failed' || end.kind === 'timedOut') return end.message;
  if (end.kind === 'aborted') return undefined;
  const { isError, content } = mappedOutput(record);
  return isError ? textOf(content) : undefined;
}

function cleanOf(record: CallRecord, end: ToolEnd, abort: AbortReason | null, hook: HookResult | undefined, services: Services) {
  const tool = toolOf(record);
  switch (end.kind) {
    case 'succeeded': {
      const clean = replacement(record, hook, services) ?? mappedOutput(record);
      return abort ? { ...clean, content: withNote(clean.content, abortedOutcome(abort, 'finished').message ?? '') } : clean;
    }
    case 'failed':
      return cleanResult({ content: end.message, isError: true }, tool.name);
    case 'timedOut':
      return cleanResult(
        { content: withPartial(`${end.message}. It was stopped; side effects may have happened in part.`, record), isError: true },
        tool.name,
      );
    case 'aborted': {
      const { message = '' } = abortedOutcome(abort ?? 'userInterrupt', end.started ? 'running' : 'beforeStart');
      const left = end.abandoned ? ' It did not stop in time and was left behind.' : '';
      return cleanResult({ content: withPartial(`${message}${left}`, record), isError: true }, tool.name);
    }
  }
}

/** What a PostToolUse hook put in place of the output. One that does not fit the tool is ignored with a notice: the real output is never lost to it. */
function replacement(record: CallRecord, hook: HookResult | undefined, services: Services): CleanResult | undefined {
  const tool = toolOf(record);
  const offered = hook?.updatedToolOutput ?? (tool.mcp ? hook?.updatedMCPToolOutput : undefined);
  if (!offered) {
    if (hook?.updatedMCPToolOutput) ignored(record, hook.updatedMCPToolOutput.hookName, 'it is for tools of MCP servers', services);
    return undefined;
  }
  const parsed = tool.outputSchema?.safeParse(offered.value);
  const mapped =
    parsed?.success === false
      ? { ok: false as const, reason: z.prettifyError(parsed.error) }
      : tryToMap(tool, parsed ? parsed.data : offered.value);
  if (mapped.ok) return mapped.clean;
  ignored(record, offered.hookName, `it does not fit the output of ${tool.name} (${mapped.reason})`, services);
  return undefined;
}

function ignored(record: CallRecord, hookName: string, why: string, services: Services): void {
  const message = `PostToolUse hook [${hookName}]: what it put in place of the output of ${record.call.id} is ignored: ${why}. The real output is delivered.`;
  services.update({ type: 'notice', level: 'warning', message });
}

/** `decision: "block"` after the fact: the result stays, the reason stands beside it. */
const feedback = (hook: HookResult | undefined): readonly string[] => (hook?.block ? [hook.block.reason] : []);

function mappedOutput(record: CallRecord): CleanResult {
  record.mapped ??= mapResult(toolOf(record), outputData(record));
  return record.mapped;
}

const outputData = (record: CallRecord): unknown => (record.output && 'data' in record.output ? record.output.data : undefined);

function withPartial(text: string, record: CallRecord): string {
  const error = record.output && 'error' in record.output ? record.output.error : undefined;
  const partial = error instanceof ToolAbortedError ? error.partialOutput.trim() : '';
  return partial === '' ? text : `${text}\n\nOutput until then:\n${partial}`;
}

function withNote(content: CleanResult['content'], note: string): CleanResult['content'] {
  return typeof content === 'string' ? `${content}\n\n(${note})` : [...content, { type: 'text', text: `(${note})` }];
}

const ERROR_LINE_CHARS = 200;

function firstLine(content: CleanResult['content']): string {
  return (textOf(content).trimStart().split('\n', 1)[0] ?? '').slice(0, ERROR_LINE_CHARS);
}

function textOf(content: CleanResult['content']): string {
  return typeof content === 'string' ? content : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** A tool's output as hooks get it: JSON, or a text that says why not. */
function plain(value: unknown): JsonValue {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? null : JSON.parse(text);
  } catch (error) {
    return `(not serialisable: ${messageOf(error)})`;
  }
}
