import { afterEach, expect, it, vi } from 'vitest';
import { scriptedServer, text, toolUse } from '../../src/testing/index.js';
import { tempDir } from '../support/sessions.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

it('embeds beside the SDK: the tool of one’s own runs, what the callback refuses does not', async () => {
  const server = await scriptedServer({
    script: [[toolUse('Weather', { city: 'Oslo' }), toolUse('Read', { file_path: '/etc/hostname' })], [text('It is 8 degrees in Oslo.')]],
  });
  vi.stubEnv('ANTHROPIC_API_KEY', 'test');
  vi.stubEnv('ANTHROPIC_BASE_URL', server.url);
  vi.stubEnv('HOME', tempDir());
  const written: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const told = vi.spyOn(console, 'error').mockImplementation(() => {});
  await import('../../examples/embed.js');
  expect(written.join('')).toContain('It is 8 degrees in Oslo.');
  expect(told.mock.calls.flat().sort()).toEqual(['Read: denied', 'Weather: succeeded']);
  server.assertConsumed();
  await server.close();
});
