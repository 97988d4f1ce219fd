import type { ToolContext } from '../tool/types.js';
import type { CallRecord } from './callBook.js';
import type { Services } from './services.js';

/** What one call may use of the world. */
export function toolContext(record: CallRecord, services: Services, signal: AbortSignal): ToolContext {
  const callId = record.call.id;
  return {
    sessionId: services.sessionId,
    callId,
    cwd: services.cwd,
    env: services.env,
    signal,
    permissions: services.permissions.toolContext(),
    files: services.files,
    resultsDir: services.resultsDir,
    envFile: services.envFile,
    capabilities: services.capabilities,
    askPerson: (questions) => {
      if (!services.canAsk()) return Promise.reject(new Error('Nobody is there to answer: this session has no one to ask.'));
      const agent = services.agentName === undefined ? {} : { agent: services.agentName };
      return services.questions.askPerson({ callId, questions, ...agent }, signal);
    },
  };
}
