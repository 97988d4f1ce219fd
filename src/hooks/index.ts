export { type HookClock, systemClock } from './clock.js';
export { loadHooks } from './config.js';
export type {
  CommandHandler,
  ConfiguredHook,
  FunctionHandler,
  HookCallback,
  HookCallbacks,
  HookConfig,
  HookHandler,
  HookIssue,
  HookOrigin,
  HookSource,
  HttpHandler,
  McpToolHandler,
  PromptHandler,
} from './config-types.js';
export { describeInputChange } from './input-change.js';
export { stopHookBlockCap } from './limits.js';
export * from './payloads.js';
export { createHookRunner } from './runner.js';
export type { HookContext, HookPorts, SessionHookRunner } from './runner-types.js';
export {
  type AsyncHookResult,
  HOOK_EVENTS,
  type HookEvent,
  type HookRequest,
  type HookResult,
  type HookRun,
  type HookRunner,
  type InputChange,
} from './types.js';
