import type { QueryOutput } from '../../machines/query.js';
import type { HookRequest } from '../hooks/types.js';
import type { ModelError } from '../model/types.js';
import { messageOf } from '../tool/errors.js';
import type { PermissionPrompt } from './questions.js';
import type { Services } from './services.js';

/*
 * Hooks that are told of something and decide nothing: nobody waits for them, and what they answer changes nothing. They end with the
 * session at the latest.
 */

interface Watching {
  readonly closing: AbortController;
  readonly running: Set<Promise<void>>;
}
const watching = new WeakMap<Services, Watching>();

function tell(request: HookRequest, services: Services): void {
  if (!services.hooks.isConfigured(request.event, request.subject)) return;
  const known = watching.get(services) ?? { closing: new AbortController(), running: new Set() };
  watching.set(services, known);
  const run: Promise<void> = services.runHooks(request, known.closing.signal).then(
    () => {},
    (error: unknown) =>
      services.update({ type: 'notice', level: 'warning', message: `A ${request.event} hook failed: ${messageOf(error)}` }),
  );
  services.provider?.watch(run);
  known.running.add(run);
  void run.then(() => known.running.delete(run));
}

/** Stops those that still run and waits until they have ended. */
export async function closeObservers(services: Services): Promise<void> {
  const known = watching.get(services);
  if (known === undefined) return;
  known.closing.abort();
  await Promise.all(known.running);
}

/** Notification: a question waits for a person (Claude Code docs, hooks: Notification, `permission_prompt`). */
export function tellOfQuestion(prompt: Pick<PermissionPrompt, 'callId' | 'toolName' | 'title'>, services: Services): void {
  const type = 'permission_prompt';
  const request: HookRequest = {
    id: `hook:Notification:${prompt.callId}`,
    event: 'Notification',
    subject: type,
    payload: { message: `${prompt.toolName} needs permission: ${prompt.title}`, title: 'Permission needed', notification_type: type },
  };
  tell(request, services);
}

/** Names of the documentation for the errors of the API (Claude Code docs, hooks: StopFailure). */
const FAILURES: Readonly<Record<string, string>> = {
  rate_limit_error: 'rate_limit',
  authentication_error: 'authentication_failed',
  permission_error: 'authentication_failed',
  billing_error: 'billing_error',
  invalid_request_error: 'invalid_request',
  request_too_large: 'invalid_request',
  not_found_error: 'invalid_request',
  api_error: 'server_error',
  overloaded_error: 'server_error',
  timeout_error: 'server_error',
};

/** StopFailure in the place of Stop: the query ended because the model could not answer. */
export function tellOfFailure(query: Pick<QueryOutput, 'queryId' | 'end' | 'reason'>, error: ModelError | null, services: Services): void {
  const kind = query.end === 'maxTokens' ? 'max_output_tokens' : (FAILURES[error?.type ?? ''] ?? 'unknown');
  if (query.end !== 'modelError' && query.end !== 'maxTokens') return;
  const { answerText } = services.conversation;
  const request: HookRequest = {
    id: `hook:StopFailure:${query.queryId}`,
    event: 'StopFailure',
    subject: kind,
    payload: { error: kind, error_details: query.reason, ...(answerText === '' ? {} : { last_assistant_message: answerText }) },
  };
  tell(request, services);
}
