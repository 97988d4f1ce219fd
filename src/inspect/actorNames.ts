import { isJsonObject, type JsonObject } from '../json.js';
import type { ActorKind } from './protocol/flowEvents.js';

/** What the adapter knows of an actor when it starts. */
export interface ActorFacts {
  /** The actor's explicit id, or null when it was given none (XState then makes one up). */
  readonly id: string | null;
  /** Name of the actor logic where it has one. */
  readonly src: string | null;
  /** Id of its machine; null where the actor is none. */
  readonly machineId: string | null;
  /** What it was started with. */
  readonly input: unknown;
}
/** How actors are called in a flow. */
export interface ActorNaming {
  /** What it is in the tree. */
  readonly kind: ActorKind;
  /** What it is called. */
  readonly name: string;
  /** A short text of what it works on; may be empty. */
  readonly label: string;
  /** The call it belongs to. */
  readonly toolUseId?: string;
}

const KINDS: Readonly<Record<string, ActorKind>> = {
  session: 'session',
  query: 'query',
  turn: 'turn',
  executor: 'executor',
  toolCall: 'toolCall',
  permission: 'permission',
  runHooks: 'hooks',
  runPreToolUseHooks: 'hooks',
  runPermissionRequestHooks: 'hooks',
  hooks: 'hooks',
  callTool: 'tool',
  streamModel: 'model',
  askPerson: 'question',
  backgroundTask: 'task',
  task: 'task',
};
/** Input fields that tell a reader most, in this order. */
const TELLING = ['command', 'file_path', 'path', 'pattern', 'url', 'query', 'description', 'prompt', 'name'];
const LABEL_CHARS = 120;

/** Names an actor from its machine or logic and, for a tool call, from the `tool_use` block in its input. */
export function nameActor(facts: ActorFacts): ActorNaming {
  const known = KINDS[facts.machineId ?? ''] ?? KINDS[facts.src ?? ''];
  const kind = known ?? (/hook/i.test(facts.src ?? '') ? 'hooks' : 'actor');
  const call = toolUseIn(facts.input);
  if (call && kind === 'toolCall') return { kind, name: call.name, label: labelOf(call.input), toolUseId: call.id };
  const input = isJsonObject(facts.input) ? facts.input : {};
  const toolUseId = typeof input.callId === 'string' ? { toolUseId: input.callId } : {};
  const name = facts.machineId ?? facts.src ?? facts.id ?? 'actor';
  return { kind, name, label: facts.machineId === null ? '' : addressOf(input), ...toolUseId };
}

/** Which one of its kind it is, as far as the input of a session's machines tells. */
function addressOf(input: JsonObject): string {
  const { turn, queryId, sessionId, toolName, title } = input;
  const telling = typeof turn === 'number' ? `#${turn}` : [toolName, title, queryId, sessionId].find((value) => typeof value === 'string');
  return typeof telling === 'string' ? telling : '';
}

function toolUseIn(input: unknown): { id: string; name: string; input: unknown } | undefined {
  if (!isJsonObject(input)) return undefined;
  for (const value of [input.call, input.toolUse, input.request, input]) {
    if (isJsonObject(value) && typeof value.id === 'string' && typeof value.name === 'string') {
      const parsed = value.input;
      return { id: value.id, name: value.name, input: isJsonObject(parsed) && parsed.kind === 'object' ? parsed.value : parsed };
    }
  }
  return undefined;
}

function labelOf(input: unknown): string {
  if (!isJsonObject(input)) return '';
  const key = TELLING.find((candidate) => typeof input[candidate] === 'string');
  const text = key === undefined ? '' : String(input[key]);
  return text.replace(/\s+/g, ' ').slice(0, LABEL_CHARS);
}
