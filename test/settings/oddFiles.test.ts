import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/settings/load.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';

const place = () => {
  const home = tempDir();
  mkdirSync(join(home, '.claude'));
  return { home, cwd: tempDir(), file: join(home, '.claude', 'settings.json') };
};
const denyEcho = JSON.stringify({ permissions: { deny: ['Echo'] } });

describe('a settings file that is odd', () => {
  it.each<[string, string]>([
    ['begins with a byte order mark', `\ufeff${denyEcho}`],
    ['has CRLF line ends', denyEcho.replaceAll(',', ',\r\n').replace('{', '{\r\n')],
    ['has comments and a trailing comma', denyEcho.replace('{', '{ // rules\n').replace(/\}$/, ',}')],
    ['ends in NUL', `${denyEcho}\0`],
    ['holds keys of prototypes', denyEcho.replace('{', '{"__proto__": {"permissions": {"allow": ["Echo"]}}, "constructor": 1,')],
    ['names a key twice', `{"permissions": {"allow": ["Echo"]}, ${denyEcho.slice(1)}`],
    ['is in UTF-16', Buffer.from(`\ufeff${denyEcho}`, 'utf16le').toString('latin1')],
  ])('%s: its deny rule holds, or the session says why not', async (what, content) => {
    const { home, cwd, file } = place();
    writeFileSync(file, content, what === 'is in UTF-16' ? 'latin1' : 'utf8');
    const { session, results } = await scene([[toolUse('Echo', {})], [text('ok')]], {
      cwd,
      settings: { home },
      tools: [testTool({ name: 'Echo' })],
      permissions: { allow: ['Echo'] },
    });
    expect((await session.send('go').done).end).toBe('completed');
    const held = results().get('toolu_1_1')?.isError === true;
    const told = session.warnings.some((warning) => warning.includes(file));
    expect(held || told).toBe(true);
    expect(Reflect.get({}, 'permissions')).toBeUndefined();
  });

  it('is a link: what it leads to counts', () => {
    const { home, cwd, file } = place();
    writeFileSync(join(home, 'real.json'), denyEcho);
    symlinkSync(join(home, 'real.json'), file);
    const { rules, warnings } = loadSettings({ home, cwd, toolNames: ['Echo'] });
    expect(rules.map(({ text: rule }) => rule)).toEqual(['Echo']);
    expect(warnings).toEqual([]);
  });

  it.each<[string, (file: string) => void]>([
    ['is a directory', (file) => mkdirSync(file)],
    ['is a link that leads nowhere', (file) => symlinkSync('/nowhere/at/all', file)],
    ['is a link to itself', (file) => symlinkSync(file, file)],
  ])('%s: the session begins all the same', async (_, make) => {
    const { home, cwd, file } = place();
    make(file);
    const { session } = await scene([[text('ok')]], { cwd, settings: { home } });
    expect((await session.send('go').done).text).toBe('ok');
  });

  it.each<[string, unknown]>([
    ['an array', []],
    ['null', null],
    ['a number', 1],
    ['rules that are no list', { permissions: { deny: 'Echo' } }],
    ['rules that are no text', { permissions: { deny: [1, null, {}] } }],
    ['permissions that are a list', { permissions: [] }],
    ['hooks that are a text', { hooks: 'none' }],
    ['a mode that there is not', { permissions: { defaultMode: 'yolo' } }],
  ])('holds %s: it is told with its file, and nothing breaks', async (_, content) => {
    const { home, cwd, file } = place();
    writeFileSync(file, JSON.stringify(content));
    const { session } = await scene([[text('ok')]], { cwd, settings: { home } });
    expect((await session.send('go').done).text).toBe('ok');
    expect(session.warnings.join('\n')).toContain(file);
  });

  it('holds 300 rules: each counts, and a decision is quick', async () => {
    const { home, cwd, file } = place();
    const allow = Array.from({ length: 300 }, (_, n) => `Bash(tool${n} *)`);
    writeFileSync(file, JSON.stringify({ permissions: { allow, deny: ['Bash(tool299 drop *)'] } }));
    const { session, results } = await scene(
      [
        [
          toolUse('Bash', { command: 'tool298 x' }),
          toolUse('Bash', { command: 'tool299 drop x' }),
          toolUse('Bash', { command: 'tool300 x' }),
        ],
        [text('ok')],
      ],
      { cwd, settings: { home }, builtInTools: ['Bash'] },
    );
    const began = performance.now();
    expect((await session.send('go').done).end).toBe('completed');
    expect(performance.now() - began).toBeLessThan(5_000);
    expect([...results().values()].map(({ text: words }) => words)).toEqual([
      expect.stringContaining('not found'),
      expect.stringContaining('tool299 drop'),
      expect.stringContaining('Nobody can be asked'),
    ]);
  });
});
