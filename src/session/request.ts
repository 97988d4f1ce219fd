import type { TurnAddress } from '../../machines/turn.js';
import type { JsonObject } from '../json.js';
import { assertSendable, checkPairing, UnsendableMessagesError } from '../messages/pairing.js';
import type { MessageParam } from '../messages/types.js';
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

/** The request of a turn from the session as it is now. Throws, before anything is sent, where the history breaks a rule and cannot be mended. */
export function buildRequest({ queryId, turn }: TurnAddress, session: Services): ModelRequest {
  const { model, conversation } = session;
  checkOrMend(session);
  conversation.beginAnswer();
  const messages = budgetImages(conversation.messages, { dir: session.results.dir });
  return {
    id: `model:${session.sessionId}:${queryId}:${turn}`,
    model: model.id,
    maxTokens: model.maxTokens,
    system: model.system,
    tools: toolsFor(session),
    messages,
    ...(model.thinking === undefined ? {} : { thinking: model.thinking }),
    ...(model.betas.length === 0 ? {} : { betas: model.betas }),
  };
}

/** The API refuses a history with calls in a request without tools; a session may lose its last tool to a rule or with a server. */
const NO_TOOL_LEFT: readonly JsonObject[] = [
  {
    name: 'NoToolAvailable',
    description: 'Stands for the tools that are no longer there. It cannot be called.',
    input_schema: { type: 'object', properties: {} },
  },
];

/** The `tools` of a session's requests: the same in all of them, so that the cached prefix holds. */
export function toolsFor(session: Services): readonly JsonObject[] {
  const tools = session.toolDefinitions();
  return tools.length > 0 || !session.conversation.hasCalls ? tools : NO_TOOL_LEFT;
}

/** A stream that broke the protocol (a server's result that never came) must not make every later prompt fail. */
function checkOrMend(session: Services): void {
  const { conversation } = session;
  try {
    checkGrowth(conversation.messages, session);
  } catch (error) {
    if (!(error instanceof UnsendableMessagesError)) throw error;
    const notes = conversation.mend();
    checked.delete(session);
    checkGrowth(conversation.messages, session);
    const what = notes.map(({ text }) => text).join(' ');
    session.update({ type: 'notice', level: 'warning', message: `The history was mended, since the API would refuse it: ${what}` });
  }
}

/** How far each session's history has been checked, and the message it ended with then. */
const checked = new WeakMap<Services, { readonly count: number; readonly last: MessageParam | undefined }>();

/**
 * The pairing check over what has been added since the last request. A history only grows, so what was sendable before still is;
 * after a compaction everything is looked at again. The check begins at the last answer before the new part, whose results are new.
 */
function checkGrowth(messages: readonly MessageParam[], session: Services): void {
  const before = checked.get(session);
  const unchanged = before !== undefined && before.count > 0 && messages[before.count - 1] === before.last;
  const from = unchanged ? messages.findLastIndex(({ role }, index) => role === 'assistant' && index < before.count) : 0;
  if (from <= 0) assertSendable(messages);
  else {
    const problems = checkPairing(messages.slice(from)).filter(({ code }) => code !== 'first_not_user');
    if (problems.length > 0)
      throw new UnsendableMessagesError(problems.map((problem) => ({ ...problem, message: problem.message + from })));
  }
  // The last message may still grow; what stands before it does not.
  checked.set(session, { count: messages.length - 1, last: messages.at(-2) });
}
