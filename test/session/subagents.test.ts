import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAgents, parseAgent } from '../../src/session/agentDefinitions.js';
import { toolsForAgent } from '../../src/session/agentTools.js';
import { type ScriptedRequest, text, toolUse, usage } from '../../src/testing/index.js';
import { deferred, scene, tempDir, testTool } from '../support/sessions.js';

/** Waits for what must come, however busy the machine is. */
const poll = <T>(look: () => T) => expect.poll(look, { timeout: 60_000 });

const said = ({ body }: ScriptedRequest): string => JSON.stringify(body.messages);
const systemOf = ({ body }: ScriptedRequest): string => JSON.stringify(body.system ?? '');
const toolsOf = ({ body }: ScriptedRequest): readonly unknown[] => (Array.isArray(body.tools) ? body.tools : []);
const names = (request: ScriptedRequest) => toolsOf(request).map((tool) => (isNamed(tool) ? tool.name : ''));
const isNamed = (value: unknown): value is { readonly name: string } => typeof value === 'object' && value !== null && 'name' in value;
const agent = (prompt: string, more = {}) => toolUse('Agent', { description: 'a task', prompt, ...more });
const options = { builtInTools: ['Agent', 'Read', 'Glob', 'Grep', 'Write', 'Bash'] };

describe('a subagent', () => {
  it('works in a history of its own, with its own system prompt; only its last words come back', async () => {
    const { session, server, results, of } = await scene(
      (_, n) => {
        if (n === 1) return [agent('count the moons')];
        return n === 2 ? [text('thinking'), toolUse('Echo', { a: 1 })] : n === 3 ? [text('There are two moons.')] : [text('Two.')];
      },
      { ...options, tools: [testTool({ name: 'Echo' })], permissions: { allow: ['Echo'] } },
    );
    expect((await session.send('how many moons?').done).text).toBe('Two.');
    const [, first, second, last] = server.requests;
    expect(first && said(first)).not.toContain('how many moons');
    expect(first && systemOf(first)).toContain('another agent');
    expect(second && said(second)).toContain('Echo');
    expect(last && said(last)).not.toContain('thinking');
    expect(results().get('toolu_1_1')).toEqual({ text: 'There are two moons.', isError: false });
    const inner = of('agent.update').map(({ update }) => update.type);
    expect(inner).toContain('call.result');
    expect(inner).not.toContain('text.delta');
    server.assertConsumed();
  });

  it('keeps its transcript beside that of its parent, with who started it', async () => {
    const store = tempDir();
    const { session } = await scene([[agent('look')], [text('seen')], [text('done')]], { ...options, store });
    await session.send('go').done;
    const dir = join((session.transcriptPath ?? '').replace(/\.jsonl$/, ''), 'subagents');
    const files = readdirSync(dir).filter((name) => !name.endsWith('.lock'));
    expect(files).toHaveLength(2);
    const meta: unknown = JSON.parse(readFileSync(join(dir, files.find((name) => name.endsWith('.meta.json')) ?? ''), 'utf8'));
    expect(meta).toMatchObject({ toolUseId: 'toolu_1_1', agentType: 'general-purpose', parentAgentId: null });
    const lines = readFileSync(join(dir, files.find((name) => name.endsWith('.jsonl')) ?? ''), 'utf8');
    expect(lines).toContain('look');
    expect(readFileSync(session.transcriptPath ?? '', 'utf8')).not.toContain('"look"}]');
  });

  it('is bound by the rules of its parent: a deny holds, and a rule added meanwhile holds too', async () => {
    const ran: unknown[] = [];
    const tool = testTool({ name: 'Act', isReadOnly: () => false, call: async (input) => ({ data: ran.push(input) }) });
    const { session, server } = await scene(
      (_, n) => {
        if (n === 1) return [agent('act')];
        return n === 2 ? [toolUse('Act', { a: 1 }), toolUse('Bash', { command: 'touch /tmp/never' })] : [text('could not')];
      },
      { ...options, tools: [tool], permissions: { allow: ['Act'], deny: ['Bash(touch *)'] } },
    );
    session.updatePermissions([{ type: 'addRules', rules: [{ toolName: 'Act' }], behavior: 'deny', destination: 'session' }]);
    await session.send('go').done;
    expect(ran).toEqual([]);
    const inner = server.requests[2];
    expect(inner && said(inner)).toMatch(/No such tool available: Act/);
    expect(inner && said(inner)).toMatch(/is_error/);
    expect(existsSync('/tmp/never')).toBe(false);
  });

  it('asks on the queue of its parent, under a call id that no other agent shares', async () => {
    const tool = testTool({ name: 'Act', isReadOnly: () => false, call: async (input) => ({ data: `did ${JSON.stringify(input)}` }) });
    const { session, results, of } = await scene(
      (request, n) => {
        if (n === 1) return [agent('act as one'), agent('act as two')];
        const who = said(request).includes('act as one') ? 'one' : 'two';
        if (said(request).includes('tool_result')) return said(request).includes('act as') ? [text(`${who}: ended`)] : [text('both')];
        return [toolUse('Act', { who }, { id: 'toolu_same' })];
      },
      { ...options, tools: [tool], interactive: true },
    );
    const sending = session.send('go');
    await poll(() => session.openPermissions.length).toBe(2);
    const prompts = session.openPermissions;
    expect(new Set(prompts.map((prompt) => prompt.callId)).size).toBe(2);
    expect(prompts.every((prompt) => prompt.agent?.startsWith('general-purpose'))).toBe(true);
    for (const prompt of prompts) {
      const isOne = JSON.stringify(prompt.input).includes('one');
      const source = { type: 'person', surface: 'test' } as const;
      const answer = isOne ? ({ behavior: 'allow', source } as const) : ({ behavior: 'deny', message: 'not two', source } as const);
      expect(session.answer(prompt.callId, prompt.inputDigest, answer)).toEqual({ accepted: true });
    }
    await sending.done;
    const outcomes = of('agent.update').flatMap(({ update }) => (update.type === 'call.result' ? [update.outcome.kind] : []));
    expect([...outcomes].sort()).toEqual(['denied', 'succeeded']);
    expect(results().size).toBe(2);
  });

  it('is named to canUseTool, since two agents may use the same call ids', async () => {
    const tool = testTool({ name: 'Act', isReadOnly: () => false });
    const asked: (readonly [string, string | undefined])[] = [];
    const { session } = await scene(
      (request, n) => {
        if (n === 1) return [toolUse('Act', { who: 'main' }, { id: 'toolu_same' }), agent('act as one'), agent('act as two')];
        if (said(request).includes('tool_result')) return [text('done')];
        return [toolUse('Act', { who: said(request).includes('act as one') ? 'one' : 'two' }, { id: 'toolu_same' })];
      },
      {
        ...options,
        tools: [tool],
        canUseTool: async (_, { who }, { agentID }) => {
          asked.push([String(who), agentID]);
          return { behavior: 'allow' };
        },
      },
    );
    await session.send('go').done;
    const agentOf = new Map(asked);
    expect(agentOf.get('main')).toBeUndefined();
    expect(new Set([agentOf.get('one'), agentOf.get('two'), undefined]).size).toBe(3);
  });

  it('is told to PostToolUse hooks as documented: words, calls, tokens; they may put other words in their place', async () => {
    const seen: unknown[] = [];
    const { session, results } = await scene(
      (_, n) => {
        if (n === 1) return [agent('look')];
        if (n === 2) return [usage({ input_tokens: 30, output_tokens: 4 }), toolUse('Glob', { pattern: '*' })];
        return n === 3 ? [usage({ input_tokens: 60, output_tokens: 6 }), text('seen')] : [text('done')];
      },
      {
        ...options,
        hooks: {
          PostToolUse: [
            {
              matcher: 'Task',
              hooks: [
                async ({ tool_response }) => {
                  seen.push(tool_response);
                  const updatedToolOutput = { status: 'completed', agentId: 'x', content: [{ type: 'text', text: 'redacted' }] };
                  return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
                },
              ],
            },
          ],
        },
      },
    );
    await session.send('go').done;
    expect(seen).toEqual([
      {
        status: 'completed',
        agentId: expect.any(String),
        content: [{ type: 'text', text: 'seen' }],
        isError: false,
        totalToolUseCount: 1,
        totalDurationMs: expect.any(Number),
        totalTokens: 100,
        usage: { input_tokens: 90, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      },
    ]);
    expect(results().get('toolu_1_1')).toEqual({ text: 'redacted', isError: false });
  });

  it('stops its parent when the person says stop', async () => {
    const tool = testTool({ name: 'Act', isReadOnly: () => false });
    const { session, results } = await scene([[agent('act')], [toolUse('Act')]], { ...options, tools: [tool], interactive: true });
    const sending = session.send('go');
    await poll(() => session.openPermissions.length).toBe(1);
    const [prompt] = session.openPermissions;
    const source = { type: 'person', surface: 'test' } as const;
    session.answer(prompt?.callId ?? '', prompt?.inputDigest ?? '', { behavior: 'deny', message: 'stop', interrupt: true, source });
    expect(await sending.done).toMatchObject({ end: 'aborted', reason: 'permissionRejected' });
    expect(results().size).toBe(1);
  });

  it('runs in the background as a task whose notification carries its last words', async () => {
    const go = deferred();
    const { session, server, of } = await scene(
      async (request, n) => {
        if (n === 1) return [agent('look around', { run_in_background: true })];
        if (said(request).includes('"look around"')) {
          if (!said(request).includes('Agent')) {
            await go.promise;
            return [text('The answer is 42.')];
          }
        }
        return [text(n < 4 && !said(request).includes('The answer is 42.') ? 'started' : 'noted')];
      },
      { ...options },
    );
    expect((await session.send('go').done).text).toBe('started');
    expect(session.tasks[0]).toMatchObject({ kind: 'agent', status: 'running' });
    go.resolve();
    await poll(() => of('query.ended').length).toBe(2);
    expect(session.tasks[0]).toMatchObject({ status: 'completed', summary: 'The answer is 42.' });
    expect(readFileSync(session.tasks[0]?.outputFile ?? '', 'utf8')).toBe('The answer is 42.');
    const last = server.requests.at(-1);
    expect(last && said(last)).toContain('The answer is 42.');
  });

  it('does not outlive its session, and neither does what it has started', async () => {
    const { session, of } = await scene(
      (_, n) => {
        if (n === 1) return [agent('work', { run_in_background: true })];
        return n === 2 || n === 3 ? [text('started')] : [text('x')];
      },
      { ...options },
    );
    await session.send('go').done;
    await session.close();
    expect(session.tasks.every((task) => task.status !== 'running')).toBe(true);
    expect(of('task.ended')).toHaveLength(1);
  });

  it('may start agents three deep and no deeper', async () => {
    const { session, server } = await scene(
      (request) => (said(request).includes('tool_result') ? [text('came back')] : [agent('go down')]),
      options,
    );
    await session.send('go down').done;
    // The main session and three agents below it asked for one each; the deepest was refused.
    expect(server.requests).toHaveLength(8);
    expect(server.requests.filter((request) => said(request).includes('Subagent depth limit reached'))).toHaveLength(1);
  });

  it('is refused as the twenty-first', async () => {
    const go = deferred();
    const { session, results } = await scene(
      async (request, n) => {
        if (n === 1) return Array.from({ length: 21 }, () => agent('work'));
        if (!said(request).includes('tool_result')) await go.promise;
        return [text('ended')];
      },
      { ...options, limits: { maxConcurrency: 30 }, onUpdate: (update) => update.type === 'call.result' && go.resolve() },
    );
    await session.send('go').done;
    const texts = [...results().values()].map((result) => result.text);
    expect(texts.filter((one) => one === 'ended')).toHaveLength(20);
    expect(texts.filter((one) => one.startsWith('Concurrent subagent limit reached'))).toHaveLength(1);
  });

  it('is bounded in depth and number by the environment', async () => {
    const env = { ...process.env, CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: '1', CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS: '1' };
    const both = deferred();
    const { session, server, results } = await scene(
      async (request, n) => {
        if (n === 1) return [agent('go down'), agent('go down')];
        if (said(request).includes('tool_result')) return [text('came back')];
        await both.promise;
        return [agent('deeper')];
      },
      { ...options, env, onUpdate: (update) => update.type === 'call.result' && both.resolve() },
    );
    await session.send('go').done;
    const texts = [...results().values()].map((result) => result.text);
    expect([...texts].sort()).toEqual([expect.stringContaining('Concurrent subagent limit reached (1)'), 'came back']);
    expect(server.requests.filter((request) => said(request).includes('agents may start agents 1 deep'))).toHaveLength(1);
  });

  it('shares the budget of its family', async () => {
    const { session } = await scene(
      (_, n) => (n === 1 ? [agent('spend')] : [usage({ input_tokens: 900, output_tokens: 200 }), text('spent')]),
      { ...options, limits: { maxBudgetTokens: 1_000 } },
    );
    expect(await session.send('go').done).toMatchObject({ end: 'budgetExhausted' });
    expect(session.usage.requests).toBe(2);
  });

  it('has hooks of its own for start and stop, and none of the session’s', async () => {
    const events: string[] = [];
    const note = (name: string) => [
      {
        hooks: [
          async (input: Readonly<Record<string, unknown>>) => {
            events.push(`${name} ${String(input.agent_type ?? '')}`.trim());
            return {};
          },
        ],
      },
    ];
    const { session } = await scene([[agent('look', { subagent_type: 'Explore' })], [text('seen')], [text('done')]], {
      ...options,
      hooks: {
        SessionStart: note('SessionStart'),
        UserPromptSubmit: note('UserPromptSubmit'),
        SubagentStart: note('SubagentStart'),
        SubagentStop: note('SubagentStop'),
        Stop: note('Stop'),
        SessionEnd: note('SessionEnd'),
      },
    });
    await session.send('go').done;
    await session.close();
    expect(events).toEqual(['SessionStart', 'UserPromptSubmit', 'SubagentStart Explore', 'SubagentStop Explore', 'Stop', 'SessionEnd']);
  });
});

describe('the kinds of agents', () => {
  const file = (dir: string, name: string, content: string) => {
    const path = join(dir, '.claude', 'agents', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };

  it('come from the project and the user, the project’s taking precedence; what cannot be read is named', () => {
    const home = tempDir();
    const cwd = tempDir();
    file(home, 'a.md', '---\nname: reviewer\ndescription: of the user\n---\nReview.');
    file(cwd, 'b.md', '---\nname: reviewer\ndescription: of the project\ntools: Read, Grep\nmodel: haiku\n---\nReview well.');
    file(cwd, 'c.md', 'no frontmatter');
    file(cwd, 'b2.md', '---\nname: painter\ndescription: paints\ncolor: red\nhooks: {}\n---\nPaint.');
    file(cwd, 'd.md', '---\nname: two words\ndescription: x\n---\n');
    const { agents, warnings } = loadAgents({ configDir: join(home, '.claude'), cwd });
    expect(agents.map(({ name }) => name)).toEqual(['general-purpose', 'Explore', 'reviewer', 'painter']);
    expect(agents[2]).toMatchObject({ description: 'of the project', tools: ['Read', 'Grep'], model: 'haiku', prompt: 'Review well.' });
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toMatch(/b2\.md, hooks has no effect here/);
    expect(warnings[1]).toContain('c.md');
    expect(warnings[2]).toMatch(/d\.md.*name/);
    const given = { name: 'reviewer', description: 'of the program', prompt: 'x' };
    expect(loadAgents({ configDir: join(home, '.claude'), cwd, files: false, given: [given] }).agents.at(-1)).toEqual({
      ...given,
      source: 'given in code',
    });
  });

  it('take YAML lists, name patterns and exclusions, and never get a tool that speaks to the person', () => {
    const { agent: definition } = parseAgent('---\nname: x\ndescription: y\ntools:\n  - mcp__db__*\n  - Bash(git *)\n---\n', 'x.md');
    const pool = ['mcp__db__read', 'mcp__web__get', 'Bash', 'Read', 'AskUserQuestion'].map((name) => testTool({ name }));
    expect(toolsForAgent(definition, pool).map(({ name }) => name)).toEqual(['mcp__db__read', 'Bash']);
    const { tools: _all, ...all } = definition;
    expect(toolsForAgent({ ...all, disallowedTools: ['mcp__*'] }, pool).map(({ name }) => name)).toEqual(['Bash', 'Read']);
  });

  it('may be sorted into folders', () => {
    const cwd = tempDir();
    file(cwd, 'review/strict/a.md', '---\nname: strict\ndescription: x\n---\n');
    file(cwd, '.old/b.md', '---\nname: old\ndescription: x\n---\n');
    const { agents, warnings } = loadAgents({ configDir: cwd, cwd });
    expect(agents.map(({ name }) => name)).toEqual(['general-purpose', 'Explore', 'strict']);
    expect(warnings).toEqual([]);
  });

  it('may have a colon in their description', () => {
    const prose = 'Use it when asked. Examples: <example>user: "go: on"\\nassistant: yes</example>';
    const { agent: definition } = parseAgent(`---\r\nname: x\r\ndescription: ${prose}\r\ntools: Read\r\n---\r\nWork.`, 'x.md');
    expect(definition).toMatchObject({ description: prose, tools: ['Read'], prompt: 'Work.' });
    expect(() => parseAgent('---\nname: x\ndescription: y\ntools: a: b\n---\n', 'x.md')).toThrow('Nested mappings');
  });

  it('name tools of servers as permission rules do, also those that the model knows by a cut name', () => {
    const served = (server: string, tool: string, name: string) => testTool({ name, mcp: { server, tool } });
    const pool = [
      served('my.db', 'read', 'mcp__my_db__read_0123456789'),
      served('my.db', 'drop_all', 'mcp__my_db__drop_all_0123456789'),
      served('my', 'x', 'mcp__my__x'),
      testTool({ name: 'Bash' }),
    ];
    const given = (lists: object) => toolsForAgent(lists, pool).map(({ mcp, name }) => mcp?.tool ?? name);
    expect(given({ disallowedTools: ['mcp__my_db__drop_all'] })).toEqual(['read', 'x', 'Bash']);
    expect(given({ disallowedTools: ['mcp__my_db'] })).toEqual(['x', 'Bash']);
    expect(given({ disallowedTools: ['mcp__*__drop_*', 'Bash(rm *)'] })).toEqual(['read', 'x']);
    expect(given({ tools: ['mcp__my'] })).toEqual(['x']);
    expect(given({ tools: ['mcp__my_db__read', 'Bash(git *)'] })).toEqual(['read', 'Bash']);
  });

  it('tell what a list of tools says in vain', () => {
    const cwd = tempDir();
    file(cwd, 'a.md', '---\nname: a\ndescription: x\ntools: Bash(git *), Agent(b, c), Read, Own, mcp__x__y\nallowed-tools: Read\n---\n');
    const given = { name: 'g', description: 'x', prompt: 'x', disallowedTools: ['bash', 'Write(*)', 'Edit(/x)'] };
    const { agents, warnings } = loadAgents({ configDir: cwd, cwd, given: [given], toolNames: ['Own'] });
    expect(agents.find(({ name }) => name === 'a')?.tools).toEqual(['Bash(git *)', 'Agent(b, c)', 'Read', 'Own', 'mcp__x__y']);
    expect(warnings.map((text) => text.replace(/^In the agent .*?, (?=\w+(?::| ?-?tools))/, ''))).toEqual([
      expect.stringContaining('allowed-tools (the field is called tools) has no effect here.'),
      'tools: Bash(git *) gives all of Bash; what it may do is for permission rules to say.',
      'tools: Agent(b, c) gives all of Agent; what it may do is for permission rules to say.',
      'disallowedTools: there is no tool bash; Bash may be meant.',
      'disallowedTools: Edit(/x) takes away all of Edit; a deny rule forbids a part.',
    ]);
  });

  it('are told to the model in the tool’s description, and offer only their tools', async () => {
    const { session, server, results } = await scene(
      (_, n) =>
        n === 1
          ? [agent('look', { subagent_type: 'explore' }), agent('x', { subagent_type: 'nobody' })]
          : [text(n === 2 ? 'seen' : 'done')],
      options,
    );
    await session.send('go').done;
    const [first, second] = server.requests;
    expect(first && JSON.stringify(toolsOf(first))).toContain('- Explore: Finds files');
    expect(second && names(second)).toEqual(['Glob', 'Grep', 'Read']);
    expect(results().get('toolu_1_2')?.text).toMatch(/There is no agent nobody. There are: general-purpose, Explore/);
  });

  it('refuse to start without any tool', async () => {
    const { session, results } = await scene([[agent('look', { subagent_type: 'Explore' })], [text('done')]], { builtInTools: ['Agent'] });
    await session.send('go').done;
    expect(results().get('toolu_1_1')).toMatchObject({ isError: true });
    expect(results().get('toolu_1_1')?.text).toMatch(/Explore was not started: none of its tools/);
  });
});
