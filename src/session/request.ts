import type { TurnAddress } from '../../machines/turn.js';
import type { JsonObject } from '../json.js';
import { assertSendable } from '../messages/pairing.js';
import type { ModelRequest } from '../model/types.js';
import { budgetImages } from '../results/index.js';
import { toolInputJSONSchema } from '../tool/index.js';
import type { AnyTool } from '../tool/types.js';
import type { Services } from './services.js';

const definitions = new WeakMap<AnyTool, JsonObject>();

/** A tool as the model is told of it. Made once per tool, so that its bytes are the same in every request. */
export function toolDefinition(tool: AnyTool): JsonObject {
  const known = definitions.get(tool);
  if (known) return known;
  const made = { name: tool.name, description: tool.prompt(), input_schema: toolInputJSONSchema(tool) };
  definitions.set(tool, made);
  return made;
}

/** The request of a turn from the session as it is now. Throws, before anything is sent, where the history breaks a pairing rule. */
export function buildRequest({ queryId, turn }: TurnAddress, session: Services): ModelRequest {
  const { model, conversation } = session;
  const messages = budgetImages(conversation.messages, { dir: session.results.dir });
  assertSendable(messages);
  return {
    id: `model:${session.sessionId}:${queryId}:${turn}`,
    model: model.id,
    maxTokens: model.maxTokens,
    system: model.system,
    tools: session.toolDefinitions(),
    messages,
    ...(model.thinking === undefined ? {} : { thinking: model.thinking }),
    ...(model.betas.length === 0 ? {} : { betas: model.betas }),
  };
}
