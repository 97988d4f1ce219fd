import { z } from 'zod';
import type { AddressedAnswer, PermissionQuestion } from '../../machines/permission.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { PermissionAnswer, PermissionUpdate } from './types.js';
import { parsePermissionUpdates } from './updates.js';

/** What a callback is told besides the tool and its input (the Agent SDK's names). */
export interface CanUseToolOptions {
  /** Fires when the call is aborted: nobody needs the answer any more. */
  readonly signal: AbortSignal;
  /** The `tool_use` id of the call. */
  readonly toolUseID: string;
  /** Set for a call of a subagent: which one. Two of them may use the same `tool_use` ids. */
  readonly agentID?: string;
  /** Names the question; stable while it is open. */
  readonly requestId: string;
  /** What to offer as "always allow"; send back as `updatedPermissions` what the person chose. */
  readonly suggestions?: readonly PermissionUpdate[];
  /** The path that made the call ask, where one did. */
  readonly blockedPath?: string;
  /** Why the call is not simply allowed. */
  readonly decisionReason?: string;
  /** The text of the ask rule that demands the question. */
  readonly matchedAskRule?: string;
}

/** What a `canUseTool` callback answers. */
export type PermissionResult =
  | {
      readonly behavior: 'allow';
      /** What to run in place of the input as shown. It runs as its JSON. */
      readonly updatedInput?: Readonly<Record<string, unknown>>;
      readonly updatedPermissions?: readonly PermissionUpdate[];
    }
  | { readonly behavior: 'deny'; readonly message: string; readonly interrupt?: boolean };

/** The Agent SDK's permission callback. `null` means that the answer comes by another way, addressed by call id and digest. */
export type CanUseTool = (toolName: string, input: JsonObject, options: CanUseToolOptions) => Promise<PermissionResult | null>;

const resultSchema = z.discriminatedUnion('behavior', [
  z.object({
    behavior: z.literal('allow'),
    updatedInput: z.custom<JsonObject>(isJsonObject, 'must be an object').optional(),
    updatedPermissions: z.unknown().optional(),
  }),
  z.object({ behavior: z.literal('deny'), message: z.string(), interrupt: z.boolean().optional() }),
]);

/**
 * Makes a `canUseTool` callback the one who answers. Whatever it returns is checked: a malformed answer or a throw denies
 * with a reason; malformed `updatedPermissions` are dropped with a warning and the decision stands. An allow without
 * `updatedInput` means the input as shown. `agentId` names the subagent whose calls it decides.
 */
export function answerWithCanUseTool(
  canUseTool: CanUseTool,
  onWarning: (message: string) => void = () => {},
  agentId?: string,
): (question: PermissionQuestion, input: JsonObject, signal: AbortSignal) => Promise<AddressedAnswer | null> {
  return async (question, input, signal) => {
    const given: unknown = await canUseTool(question.toolName, input, {
      ...optionsFor(question, signal),
      ...(agentId === undefined ? {} : { agentID: agentId }),
    });
    if (given === null) return null;
    const { callId, inputDigest } = question;
    return { callId, inputDigest, answer: readAnswer(given, onWarning) };
  };
}

function optionsFor({ id, callId, suggestions, blockedPath, cause }: PermissionQuestion, signal: AbortSignal): CanUseToolOptions {
  const askRule = cause.source?.type === 'rule' && cause.behavior === 'ask' ? cause.source.rule.text : undefined;
  return {
    signal,
    toolUseID: callId,
    requestId: id,
    decisionReason: cause.reason,
    ...(suggestions.length === 0 ? {} : { suggestions }),
    ...(blockedPath === undefined ? {} : { blockedPath }),
    ...(askRule === undefined ? {} : { matchedAskRule: askRule }),
  };
}

const source = { type: 'person', surface: 'canUseTool' } as const;

function readAnswer(given: unknown, onWarning: (message: string) => void): PermissionAnswer {
  const parsed = resultSchema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const place = issue === undefined || issue.path.length === 0 ? 'its answer' : issue.path.join('.');
    return {
      behavior: 'deny',
      source,
      message: `canUseTool gave no usable answer (${place}: ${issue?.message ?? 'malformed'}); return {behavior: "allow"} or {behavior: "deny", message}`,
    };
  }
  if (parsed.data.behavior === 'deny') {
    const { message, interrupt } = parsed.data;
    return { behavior: 'deny', message, source, ...(interrupt === undefined ? {} : { interrupt }) };
  }
  const { updatedInput, updatedPermissions } = parsed.data;
  const { updates, warnings } = parsePermissionUpdates(updatedPermissions);
  for (const warning of warnings) onWarning(warning);
  return {
    behavior: 'allow',
    source,
    ...(updatedInput === undefined ? {} : { updatedInput }),
    ...(updates.length === 0 ? {} : { updatedPermissions: updates }),
  };
}
