import type { AddressedAnswer } from '../../machines/permission.js';
import type { PersonAnswers } from '../tool/types.js';
import type { PermissionPrompt, PersonPrompt } from './questions.js';

/** The side of a prompt queue that a session's own calls use. */
export interface Questions {
  askPermission(prompt: PermissionPrompt, signal: AbortSignal): Promise<AddressedAnswer>;
  askPerson(prompt: PersonPrompt, signal: AbortSignal): Promise<PersonAnswers>;
}

/**
 * A subagent's questions, on the queue of the session it works for. Call ids are unique within one conversation only, so they go up with
 * the agent's id before them and come back without: an answer can never reach the like-named call of another agent.
 */
export function forwardQuestions(parent: Questions, agentId: string, agentName: string): Questions {
  const above = (callId: string): string => `${agentId}/${callId}`;
  return {
    askPermission: async (prompt, signal) => {
      const { callId } = prompt;
      const asked = { ...prompt, callId: above(callId), agent: prompt.agent ?? agentName };
      const answer = await parent.askPermission(asked, signal);
      return { ...answer, callId };
    },
    askPerson: (prompt, signal) => parent.askPerson({ ...prompt, callId: above(prompt.callId), agent: prompt.agent ?? agentName }, signal),
  };
}
