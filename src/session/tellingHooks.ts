import type { SessionHookRunner } from '../hooks/runner-types.js';
import type { Services } from './services.js';

/** Runs hooks, and tells of each run and of what the hooks had to say to the person. */
export const tellingHooks =
  (hooks: SessionHookRunner, update: Services['update']): Services['runHooks'] =>
  async (request, signal) => {
    const { toolUseId } = request;
    const result = await hooks.run(request, {
      signal,
      onRun: (run) => update({ type: 'hook.run', ...(toolUseId === undefined ? {} : { callId: toolUseId }), run }),
    });
    for (const message of result.notices) update({ type: 'notice', level: 'warning', message });
    for (const message of result.systemMessages) update({ type: 'notice', level: 'info', message });
    // A prompt that is held back ends its query with the reason; everywhere else only this says who stopped the run, and why.
    const ended = result.stop ?? (request.event === 'PostToolBatch' ? result.block : undefined);
    if (ended !== undefined && request.event !== 'UserPromptSubmit')
      update({ type: 'notice', level: 'warning', message: `${request.event} hook [${ended.hookName}] ended the run: ${ended.reason}` });
    return result;
  };
