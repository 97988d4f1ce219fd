import { z } from 'zod';
import { jsonValue } from './schema.js';
import type { HookEvent } from './types.js';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const destination = z.enum(['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']);
const rule = z.object({ toolName: z.string(), ruleContent: z.string().exactOptional() });
const permissionUpdate = z.union([
  z.object({
    type: z.enum(['addRules', 'replaceRules', 'removeRules']),
    rules: z.array(rule),
    behavior: z.enum(['allow', 'ask', 'deny']),
    destination,
  }),
  z.object({
    type: z.literal('setMode'),
    mode: z.enum(['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions']),
    destination,
  }),
  z.object({ type: z.enum(['addDirectories', 'removeDirectories']), directories: z.array(z.string()), destination }),
]);
const permissionDecision = z.discriminatedUnion('behavior', [
  z.object({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), jsonValue).nullish(),
    updatedPermissions: z.array(permissionUpdate).nullish(),
  }),
  z.object({ behavior: z.literal('deny'), message: text, interrupt: flag }),
]);

/** Every field an event's `hookSpecificOutput` may have (Claude Code docs, hooks: JSON output). */
export const SPECIFIC = z.object({
  hookEventName: z.string(),
  permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).nullish(),
  permissionDecisionReason: text,
  updatedInput: jsonValue.exactOptional(),
  additionalContext: text,
  decision: permissionDecision.nullish(),
  updatedToolOutput: jsonValue.exactOptional(),
  updatedMCPToolOutput: jsonValue.exactOptional(),
  retry: flag,
  initialUserMessage: text,
  sessionTitle: text,
});
type SpecificField = keyof typeof SPECIFIC.shape;
export const SPECIFIC_FIELDS: Record<HookEvent, readonly SpecificField[]> = {
  PreToolUse: ['permissionDecision', 'permissionDecisionReason', 'updatedInput', 'additionalContext'],
  PostToolUse: ['additionalContext', 'updatedToolOutput', 'updatedMCPToolOutput'],
  PostToolUseFailure: ['additionalContext'],
  PostToolBatch: ['additionalContext'],
  PermissionRequest: ['decision'],
  PermissionDenied: ['retry'],
  UserPromptSubmit: ['additionalContext', 'sessionTitle'],
  Stop: ['additionalContext'],
  StopFailure: [],
  SubagentStart: ['additionalContext'],
  SubagentStop: ['additionalContext'],
  SessionStart: ['additionalContext', 'initialUserMessage', 'sessionTitle'],
  SessionEnd: [],
  Notification: ['additionalContext'],
  PreCompact: [],
  PostCompact: [],
};
/** Documented fields that nothing here acts on. */
export const IDLE_FIELDS: ReadonlySet<string> = new Set(['watchPaths', 'reloadSkills', 'classifierContext', 'suppressOriginalPrompt']);

export const TOP = z.object({
  continue: flag,
  stopReason: text,
  suppressOutput: flag,
  systemMessage: text,
  terminalSequence: text,
  decision: z.enum(['approve', 'block']).nullish(),
  reason: text,
  hookSpecificOutput: SPECIFIC.nullish(),
  async: flag,
  asyncTimeout: z.number().nullish(),
});

/** Events whose top-level `decision: "block"` means something. */
export const BLOCKABLE: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'PostToolUse',
  'PostToolUseFailure',
  'PostToolBatch',
  'UserPromptSubmit',
  'Stop',
  'SubagentStop',
  'PreCompact',
]);
