import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir } from '../support/sessions.js';

const command = (line: string) => ({ hooks: [{ type: 'command', command: line }] });

/** What shell commands print in a session whose project has these hooks. */
async function prints(commands: readonly string[], hooks: JsonObject, env: NodeJS.ProcessEnv = process.env, store: string | false = false) {
  const cwd = tempDir();
  mkdirSync(join(cwd, '.claude'));
  writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ hooks }));
  const made = await scene([commands.map((line, n) => toolUse('Bash', { command: line }, { id: `t${n}` })), [text('done')]], {
    cwd,
    builtInTools: true,
    settings: { home: tempDir() },
    permissions: { mode: 'bypassPermissions' },
    env: { ...env, CLAUDE_ENV_FILE: env.CLAUDE_ENV_FILE },
    store,
  });
  await made.session.send('go').done;
  await made.session.close();
  return commands.map((_, n) => made.results().get(`t${n}`)?.text);
}

describe('variables that SessionStart hooks leave in CLAUDE_ENV_FILE', () => {
  const greets = `echo 'export GREETING="good morning"' >> "$CLAUDE_ENV_FILE"; echo 'twice() { echo "$1 $1"; }' >> "$CLAUDE_ENV_FILE"`;

  it('are there for every shell command of the session, functions too', async () => {
    const printed = await prints(['echo "$GREETING"', 'twice ho', 'cd / && echo "$GREETING $#"'], { SessionStart: [command(greets)] });
    expect(printed).toEqual(['good morning', 'ho ho', expect.stringMatching(/^good morning 0/)]);
  });

  it('also where the session is kept', async () => {
    expect(await prints(['echo "$GREETING"'], { SessionStart: [command(greets)] }, process.env, tempDir())).toEqual(['good morning']);
  });

  it('are nowhere without such a hook, and other events have no file for them', async () => {
    const told = 'test -z "$CLAUDE_ENV_FILE" || { echo "a file is named" >&2; exit 2; }';
    expect(await prints(['echo "<$GREETING>"'], { PreToolUse: [command(told)] })).toEqual(['<>']);
  });

  it('stand beside a file that the environment names, and win over it', async () => {
    const file = join(tempDir(), 'own.sh');
    writeFileSync(file, 'export GREETING=own NAME=Ada\n');
    const env = { ...process.env, CLAUDE_ENV_FILE: file };
    expect(await prints(['echo "$GREETING $NAME"'], {}, env)).toEqual(['own Ada']);
    expect(await prints(['echo "$GREETING $NAME"'], { SessionStart: [command(greets)] }, env)).toEqual(['good morning Ada']);
  });

  it('are there for its subagents, theirs included', async () => {
    const cwd = tempDir();
    mkdirSync(join(cwd, '.claude'));
    writeFileSync(join(cwd, '.claude/settings.json'), JSON.stringify({ hooks: { SessionStart: [command(greets)] } }));
    const agent = (prompt: string) => toolUse('Agent', { description: 'ask', prompt });
    const printed: string[] = [];
    const made = await scene(
      (request) => {
        const asked = JSON.stringify(request.body.messages);
        if (asked.includes('good morning')) printed.push('seen');
        if (asked.includes('tool_result')) return [text('done')];
        if (asked.includes('go down')) return [agent('one deep')];
        return asked.includes('one deep') ? [agent('print it')] : [toolUse('Bash', { command: 'echo "$GREETING"' })];
      },
      { cwd, builtInTools: true, settings: { home: tempDir() }, permissions: { mode: 'bypassPermissions' } },
    );
    await made.session.send('go down').done;
    expect(printed).toEqual(['seen']);
  });
});
