/** `sixgates/testing`: scripted models for tests of agents. */
export { ScriptError } from './script/errors.js';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './script/model.js';
export type { RefusedRequest, Script, ScriptedRequest, UnplayedStep } from './script/script.js';
export {
  apiError,
  block,
  cutOff,
  delay,
  errorEvent,
  event,
  type Gate,
  gate,
  message,
  ping,
  raw,
  rawToolUse,
  recording,
  type Step,
  stop,
  type Turn,
  text,
  thinking,
  toolUse,
  usage,
} from './script/steps.js';
export type { AnswerEnd } from './server/answer.js';
export { type ScriptedServer, type ScriptedServerOptions, scriptedServer } from './server/server.js';
