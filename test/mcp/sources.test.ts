// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the variables of configuration files
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { collectServers, type McpServerConfig, type McpSourcesOptions } from '../../src/mcp/index.js';
import { loadSettings } from '../../src/settings/load.js';
import { text } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';

interface Files {
  readonly project?: JsonObject | string;
  readonly user?: JsonObject;
  readonly projectSettings?: JsonObject;
}

function collect({ project, user, projectSettings }: Files, more: Partial<McpSourcesOptions> = {}) {
  const base = tempDir();
  const [home, cwd] = [join(base, 'home'), join(base, 'work')];
  for (const dir of [home, cwd]) mkdirSync(join(dir, '.claude'), { recursive: true });
  if (project !== undefined) writeFileSync(join(cwd, '.mcp.json'), typeof project === 'string' ? project : JSON.stringify(project));
  if (user) writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(user));
  if (projectSettings) writeFileSync(join(cwd, '.claude', 'settings.json'), JSON.stringify(projectSettings));
  const { files } = loadSettings({ home, cwd });
  const found = collectServers({ cwd, env: {}, files, trusted: false, interactive: false, ...more });
  const plans = Object.fromEntries(found.servers.map(({ name, plan }) => [name, plan]));
  return { ...found, plans, cwd };
}
const mcp = (servers: JsonObject): JsonObject => ({ mcpServers: servers });

describe('servers from files', () => {
  it('have variables and defaults put in their place', () => {
    const { plans } = collect(
      {
        project: mcp({
          local: { command: '${BIN}/run', args: ['--key=${KEY:-none}', '${EMPTY:-x}'], env: { TOKEN: '${TOKEN}' } },
          remote: { type: 'http', url: '${BASE:-https://example.org}/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
        }),
      },
      { env: { BIN: '/opt', TOKEN: 't0k', EMPTY: '' } },
    );
    expect(plans.local).toMatchObject({ kind: 'start', config: { command: '/opt/run', args: ['--key=none', 'x'], env: { TOKEN: 't0k' } } });
    expect(plans.remote).toMatchObject({
      kind: 'start',
      config: { url: 'https://example.org/mcp', headers: { Authorization: 'Bearer t0k' } },
    });
  });

  it('say which variable is missing and what to do, and do not start', () => {
    const { plans, cwd } = collect({ project: mcp({ a: { command: 'x', env: { TOKEN: '${TOKEN}' } } }) });
    expect(plans.a).toEqual({
      kind: 'invalid',
      reason: `${join(cwd, '.mcp.json')}: mcpServers.a: env.TOKEN: the variable TOKEN is not set; set it, or write \${TOKEN:-default}`,
    });
  });

  it('say what is wrong with them by file, server and field, without harm to others', () => {
    const { plans } = collect({
      project: mcp({ a: { command: 7 }, b: { url: 'https://x' }, c: 'npx', d: { type: 'http' }, e: { command: 'fine' } }),
    });
    expect(plans.a).toMatchObject({ kind: 'invalid', reason: expect.stringMatching(/\.mcp\.json: mcpServers\.a: command: /) });
    expect(plans.b).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('needs a `type`') });
    expect(plans.c).toMatchObject({ kind: 'invalid' });
    expect(plans.d).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('url') });
    expect(plans.e).toMatchObject({ kind: 'start' });
  });

  it('are none when the file is no JSON, with a warning that names it', () => {
    const { servers, warnings, cwd } = collect({ project: '{ "mcpServers": ' });
    expect(servers).toEqual([]);
    expect(warnings.join()).toContain(`${join(cwd, '.mcp.json')}: not valid JSON`);
  });

  it('come after those given in code, and project before user', () => {
    const inCode: McpServerConfig = { command: 'code' };
    const { plans } = collect(
      {
        project: mcp({ a: { command: 'project' }, b: { command: 'project' } }),
        user: mcp({ a: { command: 'user' }, b: { command: 'user' }, c: { command: 'user' } }),
      },
      { servers: { a: inCode } },
    );
    expect(Object.values(plans)).toMatchObject([
      { config: { command: 'code' } },
      { config: { command: 'project' } },
      { config: { command: 'user' } },
    ]);
  });

  it('do not count at all when only those in code are wanted', () => {
    const { servers } = collect({ project: mcp({ a: { command: 'x' } }), user: mcp({ b: { command: 'x' } }) }, { strict: true });
    expect(servers).toEqual([]);
  });
});

describe('servers of a project that is not trusted', () => {
  const files: Files = { project: mcp({ a: { command: 'x' }, b: { command: 'x' } }) };

  it('run where nobody is there to ask, and a warning says so', () => {
    const { plans, warnings } = collect(files);
    expect(plans.a).toMatchObject({ kind: 'start' });
    expect(warnings.join()).toMatch(/a, b of .*\.mcp\.json are started although the project is not trusted/);
  });

  it('wait for trust where a person sits in front', () => {
    expect(collect(files, { interactive: true }).plans.a).toMatchObject({
      kind: 'disabled',
      reason: expect.stringContaining('not trusted'),
    });
    expect(collect(files, { interactive: true, trusted: true }).plans.a).toMatchObject({ kind: 'start' });
  });

  it('may be switched on one by one in the person’s own settings, not in the project’s', () => {
    const own = collect({ ...files, user: { enabledMcpjsonServers: ['a'] } }, { interactive: true });
    expect([own.plans.a?.kind, own.plans.b?.kind]).toEqual(['start', 'disabled']);
    const byProject = collect({ ...files, projectSettings: { enableAllProjectMcpServers: true } }, { interactive: true });
    expect(byProject.plans.a?.kind).toBe('disabled');
  });

  it('may be switched off by anyone', () => {
    expect(collect({ ...files, projectSettings: { disabledMcpjsonServers: ['a'] } }).plans.a?.kind).toBe('disabled');
  });
});

describe('an entry', () => {
  it('that its author has switched off is not started', () => {
    const { plans } = collect({ project: mcp({ a: { command: 'x', disabled: true }, b: { command: 'x', disabled: false } }) });
    expect(plans.a).toEqual({ kind: 'disabled', reason: expect.stringContaining('`disabled`') });
    expect(plans.b?.kind).toBe('start');
  });

  it('with a misspelt field is started, and the field is named', () => {
    const { plans, warnings } = collect(
      { user: mcp({ a: { command: 'x', arg: ['y'], enviroment: {}, description: 'mine' } }) },
      { trusted: true },
    );
    expect(plans.a?.kind).toBe('start');
    expect(warnings).toEqual([
      expect.stringMatching(/mcpServers\.a\.arg: .*did you mean `args`/),
      expect.stringMatching(/mcpServers\.a\.enviroment: .*did you mean `env`/),
    ]);
  });

  it('with null for a field that may be left out is started', () => {
    const { plans } = collect({ project: mcp({ a: { type: null, command: 'x', args: null, env: null, cwd: null, timeout: null } }) });
    expect(plans.a).toMatchObject({ kind: 'start', config: { command: 'x' } });
  });
});

describe('lists of denied and allowed servers', () => {
  const files: Files = {
    project: mcp({
      git: { command: 'npx', args: ['git-mcp'] },
      web: { type: 'http', url: 'https://api.example.org/mcp' },
      other: { command: 'o' },
    }),
  };

  it('deny by name, command line or URL', () => {
    const { plans } = collect({
      ...files,
      user: {
        deniedMcpServers: [{ serverName: 'other' }, { serverCommand: ['npx', 'git-mcp'] }, { serverUrl: 'https://*.example.org/*' }],
      },
    });
    expect(Object.values(plans).map((plan) => plan.kind)).toEqual(['disabled', 'disabled', 'disabled']);
  });

  it('mean the host that a URL leads to', () => {
    const { plans } = collect({
      project: mcp({
        path: { type: 'http', url: 'https://evil.org/.example.org/mcp' },
        user: { type: 'http', url: 'https://api.example.org@evil.org/mcp' },
        own: { type: 'http', url: 'https://API.example.org/mcp' },
      }),
      user: { allowedMcpServers: [{ serverUrl: 'https://*.example.org/*' }] },
    });
    expect([plans.path?.kind, plans.user?.kind, plans.own?.kind]).toEqual(['disabled', 'disabled', 'start']);
  });

  it('leave out what is not allowed, and deny wins', () => {
    const { plans } = collect({
      ...files,
      user: { allowedMcpServers: [{ serverName: 'git' }, { serverName: 'web' }], deniedMcpServers: [{ serverName: 'web' }] },
    });
    expect([plans.git?.kind, plans.web?.kind, plans.other?.kind]).toEqual(['start', 'disabled', 'disabled']);
  });

  it('hold for servers given in code as well', () => {
    const { plans } = collect({ user: { deniedMcpServers: [{ serverName: 'x' }] } }, { servers: { x: { command: 'x' } } });
    expect(plans.x).toEqual({ kind: 'disabled', reason: 'denied by `deniedMcpServers`' });
  });
});

describe('a session', () => {
  it('reads .mcp.json of its directory and names every server in its first update', async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, '.mcp.json'), JSON.stringify(mcp({ broken: { command: '${NOT_SET_ANYWHERE}' }, off: { command: 'x' } })));
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(join(cwd, '.claude', 'settings.json'), JSON.stringify({ disabledMcpjsonServers: ['off'] }));
    const { session, of } = await scene([[text('hi')]], { cwd, env: {}, settings: { home: join(cwd, 'home') } });
    await session.send('go').done;
    expect(of('session.started')[0]?.servers).toMatchObject([
      { name: 'broken', source: 'project', status: 'failed', detail: expect.stringContaining('NOT_SET_ANYWHERE') },
      { name: 'off', status: 'disabled' },
    ]);
  });
});
