import type { AddressedAnswer, ClassifierVerdict, PermissionQuestion } from '../../../machines/permission.js';
import type { CallPortInput, GateAnswer } from '../../../machines/toolCall.js';
import type { HookResult } from '../../hooks/types.js';
import { copyJson, isJsonObject, type JsonObject } from '../../json.js';
import { inputDigest } from '../../permissions/digest.js';
import type { PermissionAnswer, PermissionUpdate, ToolVerdict, TraceEntry } from '../../permissions/types.js';
import { messageOf } from '../../tool/errors.js';
import type { AnyTool } from '../../tool/types.js';
import { resolveToolPaths } from '../../tools/index.js';
import type { CallRecord } from '../callBook.js';
import { tellOfQuestion } from '../observers.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { toolContext } from '../toolContext.js';
import { inputOf, observableOf, toolOf } from './gates.js';

/** Gate 4: the joined answer of every PreToolUse hook that matches. */
export const runPreToolUseHooks = asyncPort<CallPortInput, HookResult>(async ({ callId }, { services, signal }) => {
  const record = services.calls.get(callId);
  const tool = toolOf(record);
  record.hook = await services.runHooks(
    {
      id: `hook:PreToolUse:${callId}`,
      event: 'PreToolUse',
      subject: tool.name,
      toolUseId: callId,
      payload: { tool_name: tool.name, tool_input: observableOf(record), tool_use_id: callId, ...mcpIdentity(record) },
    },
    signal,
  );
  return record.hook;
});

/** Gate 5, where the tool has an opinion of its own. */
export const askTool = asyncPort<CallPortInput, null>(async ({ callId }, { services, signal }) => {
  const record = services.calls.get(callId);
  const consult = () => opinionOf(record, services, signal);
  record.opinion = services.provider ? await services.provider.ask(`opinion:${callId}`, consult, signal) : await consult();
  return null;
});

/** Gate 5: everything the permission machine's guards read, gathered once. */
export function gatherFacts(callId: string, hook: HookResult | null, approval: TraceEntry | null, services: Services): GateAnswer {
  const record = services.calls.get(callId);
  // Where the paths lead now is what gets decided; a link that is swapped before the tool opens it is refused there.
  record.resolvedPaths = resolveToolPaths(toolOf(record).name, observableOf(record), services.cwd);
  const facts = services.permissions.facts({
    tool: toolOf(record),
    input: observableOf(record),
    rawInput: inputOf(record),
    cwd: services.cwd,
    hook: hook?.verdict ?? null,
    hookSuppliedInput: hook?.updatedInput !== undefined,
    toolVerdict: services.calls.isStillAsked(callId) && record.opinion.behavior !== 'deny' ? STILL_ASKED : record.opinion,
  });
  return { type: 'facts.gathered', facts: approval ? { ...facts, approval } : facts, digest: record.digest };
}

/** What a rule or mode of today would let through must not run because a session was opened. */
const STILL_ASKED: ToolVerdict = { behavior: 'ask', reason: 'A person was being asked about this call when an earlier process ended' };

export const permissionRequestHooks = asyncPort<PermissionQuestion, PermissionAnswer | null>(async (question, { services, signal }) => {
  const record = services.calls.get(question.callId);
  const result = await services.runHooks(
    {
      id: question.id,
      event: 'PermissionRequest',
      subject: question.toolName,
      toolUseId: question.callId,
      payload: {
        tool_name: question.toolName,
        tool_input: observableOf(record),
        permission_suggestions: question.suggestions.map(plainUpdate),
      },
    },
    signal,
  );
  const { permission } = result;
  if (!permission) return null;
  const source = { type: 'hook', hookName: permission.hookName, event: 'PermissionRequest' } as const;
  if (permission.behavior === 'deny') {
    return {
      behavior: 'deny',
      message: permission.message,
      source,
      ...(permission.interrupt === undefined ? {} : { interrupt: permission.interrupt }),
    };
  }
  return {
    behavior: 'allow',
    source,
    ...(permission.updatedInput === undefined ? {} : { updatedInput: permission.updatedInput }),
    ...(permission.updatedPermissions === undefined ? {} : { updatedPermissions: permission.updatedPermissions }),
  };
});

/** The embedding program decides first; where it does not, the question waits in the session's prompt queue. */
export const askPerson = asyncPort<PermissionQuestion, AddressedAnswer>(async (question, { services, signal }) => {
  const record = services.calls.get(question.callId);
  // Whoever is asked gets a copy: only what comes back as `updatedInput` is looked at again before it runs.
  const decided = await services.decide?.(question, copyJson(observableOf(record)), signal);
  if (decided) return withPlainInput(decided, question);
  if (!services.canAsk()) {
    return answerTo(question, {
      behavior: 'deny',
      message: `Nobody is there to ask. ${question.cause.reason}`,
      source: { type: 'nobody' },
    });
  }
  const tool = toolOf(record);
  const agent = services.agentName === undefined ? {} : { agent: services.agentName };
  const prompt = { ...question, input: copyJson(observableOf(record)), title: tool.renderToolUseMessage(inputOf(record)).title, ...agent };
  tellOfQuestion(prompt, services);
  return withPlainInput(await services.questions.askPermission(prompt, signal), question);
});

/** An answer with its changed input as JSON, which is what runs, is written down and is checked. The input as shown is no change. */
function withPlainInput(addressed: AddressedAnswer, question: PermissionQuestion): AddressedAnswer {
  const { answer } = addressed;
  if (answer.behavior !== 'allow' || answer.updatedInput === undefined) return addressed;
  const { updatedInput, ...asShown } = answer;
  try {
    const plain: unknown = JSON.parse(JSON.stringify(updatedInput));
    if (!isJsonObject(plain)) throw new TypeError('it is no JSON object');
    return { ...addressed, answer: inputDigest(plain) === question.inputDigest ? asShown : { ...asShown, updatedInput: plain } };
  } catch (error) {
    const message = `Not executed: the input that the answer put in place of the call's cannot be used: ${messageOf(error)}`;
    return { ...addressed, answer: { behavior: 'deny', message, source: answer.source } };
  }
}

export const classifyPermission = asyncPort<PermissionQuestion, ClassifierVerdict>(async (question, { services, signal }) => {
  if (!services.classify) return { behavior: 'ask', reason: 'There is no classifier.' };
  const record = services.calls.get(question.callId);
  const verdict = await services.classify(question, copyJson(observableOf(record)), signal);
  return verdict.behavior === 'deny' ? deniedByClassifier(record, verdict, services, signal) : verdict;
});

/** PermissionDenied: what its hooks say changes nothing but whether the model is told that it may try again. */
async function deniedByClassifier(
  record: CallRecord,
  verdict: ClassifierVerdict,
  services: Services,
  signal: AbortSignal,
): Promise<ClassifierVerdict> {
  const tool = toolOf(record);
  const { id } = record.call;
  if (!services.hooks.isConfigured('PermissionDenied', tool.name)) return verdict;
  const told = await services.runHooks(
    {
      id: `hook:PermissionDenied:${id}`,
      event: 'PermissionDenied',
      subject: tool.name,
      toolUseId: id,
      payload: { tool_name: tool.name, tool_input: observableOf(record), tool_use_id: id, reason: verdict.reason, ...mcpIdentity(record) },
    },
    signal,
  );
  return told.retry === true ? { ...verdict, reason: `${verdict.reason} You may try this call again.` } : verdict;
}

const answerTo = ({ callId, inputDigest }: PermissionQuestion, answer: PermissionAnswer): AddressedAnswer => ({
  callId,
  inputDigest,
  answer,
});

/** A tool that cannot say asks: a check that throws must not let through. */
async function opinionOf(record: CallRecord, services: Services, signal: AbortSignal): Promise<ToolVerdict> {
  const tool = toolOf(record);
  if (!tool.checkPermissions) return { behavior: 'passthrough' };
  try {
    return readOpinion(tool, await tool.checkPermissions(inputOf(record), toolContext(record, services, signal)));
  } catch (error) {
    return {
      behavior: 'ask',
      reason: `${tool.name} could not check its permissions: ${messageOf(error)}`,
    };
  }
}

/** What a check without types answered: nothing to say is no opinion, and what is none of the verdicts must not let through. */
function readOpinion({ name }: AnyTool, given: unknown): ToolVerdict {
  if (given === undefined || given === null) return { behavior: 'passthrough' };
  const { behavior, reason, updatedInput }: { behavior?: unknown; reason?: unknown; updatedInput?: unknown } = isJsonObject(given)
    ? given
    : {};
  const why = typeof reason === 'string' && reason !== '' ? reason : undefined;
  switch (behavior) {
    case 'passthrough':
      return { behavior };
    case 'allow':
      return { behavior, reason: why ?? `${name} allows it`, ...(isJsonObject(updatedInput) ? { updatedInput } : {}) };
    case 'ask':
    case 'deny':
      return { behavior, reason: why ?? (behavior === 'ask' ? `${name} wants this call to be asked about` : `${name} refuses this call`) };
    default:
      return { behavior: 'ask', reason: `${name} could not check its permissions: its answer was no verdict` };
  }
}

export function mcpIdentity(record: CallRecord): { readonly mcp_server?: { readonly name: string; readonly source: string } } {
  const { mcp } = toolOf(record);
  return mcp ? { mcp_server: { name: mcp.server, source: 'settings' } } : {};
}

/** Suggestions as JSON for a hook's standard input. */
function plainUpdate(update: PermissionUpdate): JsonObject {
  switch (update.type) {
    case 'setMode':
      return { ...update };
    case 'addDirectories':
    case 'removeDirectories':
      return { ...update, directories: [...update.directories] };
    default:
      return { ...update, rules: update.rules.map((rule) => ({ ...rule })) };
  }
}
