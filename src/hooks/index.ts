export { loadHooks } from './config.js';
export type { ConfiguredHook, HookCallback, HookCallbacks, HookConfig, HookIssue, HookSource } from './config-types.js';
export { describeInputChange } from './input-change.js';
export { stopHookBlockCap } from './limits.js';
export * from './payloads.js';
export { createHookRunner } from './runner.js';
export type { HookContext, HookPorts, SessionHookRunner } from './runner-types.js';
export type { AsyncHookResult, HookRequest, HookResult, HookRun } from './types.js';
