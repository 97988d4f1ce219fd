import type { AssembledSession } from '../session/assemble.js';
import type { AnswerReceipt } from '../session/questions.js';
import type { SessionMessage } from './protocol.js';
import type { TaskEnds } from './taskEnds.js';

/** Does what a message says, as the face of a session in this process would. Answers with what became of a person's answer. */
export function obey(
  message: SessionMessage,
  { actor, services }: Pick<AssembledSession, 'actor' | 'services'>,
  tasks: TaskEnds,
): AnswerReceipt | undefined {
  switch (message.type) {
    case 'prompt': {
      const { id, content } = message;
      services.journal({ type: 'prompt.queued', promptId: id, content });
      services.inbox.put({ kind: 'prompt', id, content });
      return undefined;
    }
    case 'withdraw':
      if (services.inbox.withdraw(message.promptId)) services.journal({ type: 'prompt.withdrawn', promptId: message.promptId });
      return undefined;
    case 'notify':
      services.notify(message.text, message.id);
      return undefined;
    case 'answer':
      return services.queue.answerPermission(message.callId, message.inputDigest, message.answer);
    case 'answerQuestion':
      return services.queue.answerQuestion(message.callId, message.answers);
    case 'abort':
      actor.send({ type: 'abort', reason: message.reason });
      return undefined;
    case 'stopTask':
      services.tasks.stop(message.taskId).catch(() => {
        // There is no such task: nothing is left to stop.
      });
      return undefined;
    case 'taskEnded': {
      const { status, exitCode = null, summary } = message.end;
      tasks.end(message.taskId, { status, exitCode, summary });
      return undefined;
    }
    case 'permissions':
      for (const warning of services.permissions.apply(message.updates))
        services.update({ type: 'notice', level: 'warning', message: warning });
      return undefined;
    case 'compact':
      services.compactionWish = message.instructions;
      actor.send({ type: 'compaction.asked' });
      return undefined;
    case 'close':
      actor.send({ type: 'session.close' });
      return undefined;
  }
}
