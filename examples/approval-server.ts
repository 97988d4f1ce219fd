/**
 * Approvals in a browser: questions wait in the session's queue until somebody answers them at http://127.0.0.1:8788.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/approval-server.ts "Remove the build directory."`
 *
 *   GET  /             a page with the open questions and their buttons
 *   GET  /questions    the same as JSON
 *   POST /<call id>    {"digest": "<of the input shown>", "yes": true}
 */
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { createSession, type PermissionAnswer } from 'sixgates';
import { z } from 'zod';

const session = createSession({ store: false, interactive: true, builtInTools: ['Bash', 'Read', 'Glob'] });

const page = `<!doctype html><meta charset="utf-8"><title>Approvals</title><ul></ul><script>
const say = ({ callId, digest }, yes) => fetch('/' + callId, { method: 'POST', body: JSON.stringify({ digest, yes }) });
const button = (label, press) => Object.assign(document.createElement('button'), { textContent: label, onclick: press });
const row = (asked) => {
  const item = document.createElement('li');
  item.append(asked.title + ': ' + JSON.stringify(asked.input) + ' ', button('Yes', () => say(asked, true)), button('No', () => say(asked, false)));
  return item;
};
setInterval(async () => document.querySelector('ul').replaceChildren(...(await (await fetch('/questions')).json()).map(row)), 500);
</script>`;

const reply = z.object({ digest: z.string(), yes: z.boolean() });
const source = { type: 'person', surface: 'web' } as const;

/**
 * An answer binds to the call and to the input that was shown: after a change of either, the session refuses it. Other sites cannot
 * answer from a browser that is open here: they may post, but not read the digest.
 */
async function answer(request: IncomingMessage): Promise<{ readonly status: number; readonly body: unknown }> {
  const { success, data, error } = reply.safeParse(await json(request).catch(() => undefined));
  if (!success) return { status: 400, body: { error: z.prettifyError(error) } };
  const said: PermissionAnswer = data.yes
    ? { behavior: 'allow', source }
    : { behavior: 'deny', message: 'A reviewer said no in the browser.', source };
  const receipt = session.answer((request.url ?? '/').slice(1), data.digest, said);
  return { status: receipt.accepted ? 200 : 409, body: receipt };
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET' && request.url === '/') return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  const questions = session.openPermissions.map(({ callId, inputDigest, title, input }) => ({ callId, digest: inputDigest, title, input }));
  const { status, body } = request.method === 'POST' ? await answer(request) : { status: 200, body: questions };
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
const port = Number(process.env.PORT ?? 8788);
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));

for await (const update of session.send(process.argv[2] ?? 'Remove the build directory.')) {
  if (update.type === 'permission.requested') console.log(`waiting at http://127.0.0.1:${port} for a yes to: ${update.prompt.title}`);
  if (update.type === 'call.result') console.log(`${update.tool}: ${update.outcome.kind}`);
  if (update.type === 'query.ended') console.log(update.text);
}
await session.close();
server.close();
