import type { SessionEvent } from '../../machines/session.js';
import { QuestionQueue } from './questions.js';
import type { Services } from './services.js';

interface QueueWiring extends Pick<Services, 'journal' | 'update'> {
  send(event: SessionEvent): void;
}

/** A session's prompt queue, wired to its journal (an open question survives the process), its actor and its listeners. */
export function createPromptQueue({ journal, update, send }: QueueWiring): QuestionQueue {
  return new QuestionQueue({
    permissionOpened: (prompt) => {
      const { callId, toolName, inputDigest, input } = prompt;
      journal({ type: 'permission.parked', callId, tool: toolName, input, inputDigest });
      send({ type: 'question.opened', question: { callId, toolName, inputDigest } });
      update({ type: 'permission.requested', prompt });
    },
    permissionClosed: (callId, answer) => {
      journal({ type: 'permission.resolved', callId, behavior: answer.behavior });
      send({ type: 'question.closed', callId });
      update({ type: 'permission.resolved', callId, behavior: answer.behavior, by: sourceText(answer.source) });
    },
    questionOpened: (prompt) => {
      send({ type: 'question.opened', question: { callId: prompt.callId, toolName: 'AskUserQuestion', inputDigest: '' } });
      update({ type: 'question.asked', prompt });
    },
    questionClosed: (callId) => {
      send({ type: 'question.closed', callId });
      update({ type: 'question.answered', callId });
    },
    withdrawn: (callId) => {
      send({ type: 'question.closed', callId });
      update({ type: 'permission.withdrawn', callId });
    },
  });
}

function sourceText(source: { readonly type: string; readonly hookName?: string; readonly surface?: string }): string {
  return source.hookName ?? source.surface ?? source.type;
}
