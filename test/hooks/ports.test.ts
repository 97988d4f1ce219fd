import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { urlAllowed } from '../../src/hooks/handlers/http.js';
import { substitute } from '../../src/hooks/handlers/mcp-tool.js';
import type { HookPorts } from '../../src/hooks/index.js';
import { bashCall, decides, rig } from './support.js';

/** A placeholder as settings files write it: `${path}`. */
const field = (path: string) => ['$', '{', path, '}'].join('');

interface Received {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

async function server(answer: (response: ServerResponse) => void): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ method: request.method, headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`, received };
}

const httpHook = (url: string, more: object = {}) => ({ PreToolUse: [{ hooks: [{ type: 'http', url, ...more }] }] });

describe('an http hook', () => {
  it('posts the input and takes a JSON object as its answer', async () => {
    const { url, received } = await server((response) =>
      response.end(JSON.stringify(decides('deny', { permissionDecisionReason: 'policy' }))),
    );
    const { run } = rig({
      hooks: httpHook(url, {
        headers: { Authorization: 'Bearer $TOKEN', 'X-Other': `${field('OTHER')}|$TOKEN_2` },
        allowedEnvVars: ['TOKEN'],
      }),
      context: { env: { TOKEN: 'abc', OTHER: 'secret', TOKEN_2: 'secret' } },
    });
    expect((await run(bashCall('ls'))).verdict).toMatchObject({ behavior: 'deny', reason: 'policy', hookName: url });
    expect(received).toMatchObject([
      { method: 'POST', headers: { authorization: 'Bearer abc', 'x-other': '|' }, body: { tool_input: { command: 'ls' } } },
    ]);
  });

  it('with an empty 2xx response has no opinion', async () => {
    const { url } = await server((response) => response.writeHead(204).end());
    expect(await rig({ hooks: httpHook(url) }).run(bashCall())).toMatchObject({ verdict: { behavior: 'passthrough' }, notices: [] });
  });

  it.each([
    ['an error status, whatever its body says', 500, JSON.stringify(decides('deny')), 'HTTP 500'],
    ['a body that is not JSON', 200, 'hello', 'not a JSON object'],
    ['a redirect', 302, '', 'HTTP 302'],
    ['a body over the cap', 200, `{"systemMessage":"${'x'.repeat(1_100_000)}"}`, 'larger than'],
  ])('decides nothing and leaves a notice on %s', async (_, status, body, complaint) => {
    const { url } = await server((response) => response.writeHead(status, { location: '/other' }).end(body));
    const result = await rig({ hooks: httpHook(url) }).run(bashCall());
    expect(result.verdict).toEqual({ behavior: 'passthrough' });
    expect(result.notices.join()).toContain(complaint);
    expect((await rig({ hooks: httpHook(url, { onFailure: 'block' }) }).run(bashCall())).verdict.behavior).toBe('deny');
  });

  it('that gets no response decides nothing and leaves a notice', async () => {
    const { url } = await server(() => {});
    const result = await rig({ hooks: httpHook(url, { timeout: 0.2 }) }).run(bashCall());
    expect(result.runs).toMatchObject([{ status: 'timeout' }]);
    const refused = await rig({ hooks: httpHook('http://127.0.0.1:9/') }).run(bashCall());
    expect(refused.notices.join()).toContain('No response from http://127.0.0.1:9/');
  });

  it('is not sent to a URL that the settings do not allow', async () => {
    const { url, received } = await server((response) => response.end());
    const result = await rig({ hooks: httpHook(url), settings: { allowedHttpHookUrls: ['https://hooks.example.com/*'] } }).run(bashCall());
    expect(received).toEqual([]);
    expect(result.notices.join()).toContain('"allowedHttpHookUrls"');
  });

  it('fills headers only with variables that the settings allow too', async () => {
    const { url, received } = await server((response) => response.end());
    const hooks = httpHook(url, { headers: { 'X-A': '$A', 'X-B': '$B' }, allowedEnvVars: ['A', 'B'] });
    await rig({ hooks, settings: { httpHookAllowedEnvVars: ['B'] }, context: { env: { A: 'a', B: 'b\r\nX-C: c' } } }).run(bashCall());
    expect(received[0]?.headers).toMatchObject({ 'x-a': '', 'x-b': 'bX-C: c' });
  });

  it.each([
    ['https://a.example/x', ['https://a.example/*'], true],
    ['https://a.example.evil/x', ['https://a.example/*'], false],
    ['https://aXexample/x', ['https://a.example/*'], false],
    ['https://a.example/x', [], false],
    ['https://a.example/x', undefined, true],
    ['https://b.a.example/x', ['https://*.a.example/*'], true],
    ['https://evil.org/.a.example/x', ['https://*.a.example/*'], false],
    ['https://evil.org?.a.example/x', ['https://*.a.example/*'], false],
    ['http://localhost:8080/hooks/x', ['http://localhost:*/hooks/*'], true],
    ['http://localhost:80@evil.org/hooks/x', ['http://localhost:*/hooks/*'], false],
    ['http://me:pw@localhost:80/hooks/x', ['http://localhost/*'], true],
    ['HTTP://LOCALHOST/hooks', ['http://localhost/*'], true],
    ['https://a.example/x?y=1', ['https://a.example*'], true],
    ['https://anything.org/', ['*'], true],
  ])('%s against %j: %s', (url, patterns, allowed) => {
    expect(urlAllowed(url, patterns)).toBe(allowed);
  });
});

describe('an mcp_tool hook', () => {
  const hooks = {
    PreToolUse: [
      {
        hooks: [
          {
            type: 'mcp_tool',
            server: 'linter',
            tool: 'check',
            input: { cmd: field('tool_input.command'), all: [field('tool_input'), field('nope')] },
          },
        ],
      },
    ],
  };
  const withPort = (mcpTool: HookPorts['mcpTool']) => rig({ hooks, ports: mcpTool === undefined ? {} : { mcpTool } }).run(bashCall('ls'));

  it('calls the tool with the fields filled in and reads its text like stdout', async () => {
    const calls: unknown[] = [];
    const result = await withPort(async ({ server: name, tool, input }) => {
      calls.push({ name, tool, input });
      return { text: JSON.stringify(decides('ask')), isError: false };
    });
    expect(calls).toEqual([{ name: 'linter', tool: 'check', input: { cmd: 'ls', all: ['{"command":"ls"}', ''] } }]);
    expect(result.verdict).toMatchObject({ behavior: 'ask', hookName: 'linter.check' });
  });

  it('that fails, or has no server, decides nothing and leaves a notice', async () => {
    for (const port of [async () => ({ text: 'bad', isError: true }), () => Promise.reject(new Error('not connected')), undefined]) {
      const result = await withPort(port);
      expect(result.verdict).toEqual({ behavior: 'passthrough' });
      expect(result.notices).toHaveLength(1);
    }
  });

  it('fills no field that the payload merely inherits', () => {
    expect(substitute(field('constructor.name'), {})).toBe('');
  });
});

describe('a prompt hook', () => {
  const run = (answer: string | Error, handler: object = {}, event = 'PreToolUse') => {
    const asked: unknown[] = [];
    const complete = async (prompt: string, options: object) => {
      asked.push([prompt, options]);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const { run: start } = rig({
      hooks: { [event]: [{ hooks: [{ type: 'prompt', prompt: 'Is this safe? $ARGUMENTS', ...handler }] }] },
      ports: { model: { complete } },
    });
    const request =
      event === 'PreToolUse' ? bashCall('ls') : { id: 'hook:Stop', event: 'Stop' as const, payload: { stop_hook_active: false } };
    return start(request).then((result) => ({ result, asked }));
  };

  it('asks the model it names with the input in place, and a yes is no opinion', async () => {
    const { result, asked } = await run('```json\n{"ok": true}\n```', { model: 'claude-haiku' });
    expect(asked).toEqual([
      [expect.stringContaining('Is this safe? {"session_id":"session-1"'), { model: 'claude-haiku', signal: expect.any(AbortSignal) }],
    ]);
    expect(result).toMatchObject({ verdict: { behavior: 'passthrough' }, notices: [] });
  });

  it('denies with a no and ends the turn, unless it says continueOnBlock', async () => {
    const no = '{"ok": false, "reason": "writes to prod"}';
    expect((await run(no)).result).toMatchObject({
      verdict: { behavior: 'deny', reason: 'writes to prod' },
      stop: { reason: 'writes to prod' },
    });
    const { result } = await run(no, { continueOnBlock: true });
    expect(result.verdict.behavior).toBe('deny');
    expect(result.stop).toBeUndefined();
  });

  it('sends a stop round again with a no, but lets go of what is impossible', async () => {
    expect((await run('{"ok": false, "reason": "tests are red"}', {}, 'Stop')).result.block).toMatchObject({ reason: 'tests are red' });
    expect((await run('{"ok": false, "reason": "no network", "impossible": true}', {}, 'Stop')).result.block).toBeUndefined();
  });

  it.each([['Sure, looks fine.'], ['{"ok": "yes"}'], [new Error('overloaded')]])(
    'decides nothing and leaves a notice when the model answers %s',
    async (answer) => {
      const { result } = await run(answer);
      expect(result.verdict).toEqual({ behavior: 'passthrough' });
      expect(result.notices).toHaveLength(1);
      expect((await run(answer, { onFailure: 'block' })).result.verdict.behavior).toBe('deny');
    },
  );
});
