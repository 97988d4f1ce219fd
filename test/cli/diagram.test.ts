import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { diagramCommand } from '../../src/cli/diagram.js';
import { CliError } from '../../src/cli/failure.js';
import { tempDir } from '../support/sessions.js';

/** What the command prints for these arguments. */
async function printed(...args: readonly string[]): Promise<string> {
  let text = '';
  const output = new Writable({
    write: (chunk, _, done) => {
      text += String(chunk);
      done();
    },
  });
  await diagramCommand(output).parseAsync([...args], { from: 'user' });
  return text;
}

const xstate = pathToFileURL(join(import.meta.dirname, '../../node_modules/xstate/dist/xstate.cjs.js')).href;
/** A module of a user's own with two machines. */
function moduleIn(dir: string): string {
  const file = join(dir, 'lights.mjs');
  writeFileSync(
    file,
    `import xstate from ${JSON.stringify(xstate)};
     export const lamp = xstate.createMachine({ id: 'lamp', initial: 'off', states: { off: { on: { press: 'on' } }, on: {} } });
     export const door = xstate.createMachine({ id: 'door', initial: 'shut', states: { shut: {} } });`,
  );
  return file;
}

describe('sixgates diagram', () => {
  it('draws a machine of the library, and one of a module, as text or into a file', async () => {
    expect(await printed('executor')).toMatch(/^stateDiagram-v2\n[\s\S]*executor_draining/);
    const dir = tempDir();
    const file = moduleIn(dir);
    expect(await printed(`${file}#lamp`)).toContain('lamp_off --> lamp_on : press');
    const svg = join(dir, 'door.svg');
    expect(await printed(`${file}#door`, '--format', 'svg', '--output', svg)).toBe('');
    expect(readFileSync(svg, 'utf8')).toContain('>shut</text>');
  });

  it('paints what a coverage file says was reached', async () => {
    const coverage = join(tempDir(), 'coverage.json');
    const machines = { executor: { states: { 'executor.accepting': 3, 'executor.drained': 0 }, transitions: {} } };
    writeFileSync(coverage, JSON.stringify({ format: 'sixgates-coverage/1', machines }));
    const text = await printed('executor', '--coverage', coverage);
    expect(text).toContain('class executor_accepting reached');
    expect(text).toContain('class executor_drained missed');
    await expect(printed('turn', '--coverage', coverage)).rejects.toThrow('nothing about the machine turn, but about executor');
  });

  it('says what is wrong and what there is', async () => {
    const dir = tempDir();
    const broken = join(dir, 'broken.mjs');
    writeFileSync(broken, 'throw new Error("no lights")');
    writeFileSync(join(dir, 'numbers.json'), '[1]');
    const refused: readonly (readonly [readonly string[], string])[] = [
      [['executer'], 'Did you mean executor?'],
      [['kitchen'], 'There are backgroundTask, executor,'],
      [[broken], 'broken.mjs cannot be loaded: no lights'],
      [[moduleIn(dir)], 'several machines; choose one:'],
      [[`${moduleIn(dir)}#cellar`], 'exports no machine "cellar"'],
      [['turn', '--coverage', join(dir, 'none.json')], 'none.json cannot be read'],
      [['turn', '--coverage', join(dir, 'numbers.json')], 'is not a coverage file (sixgates-coverage/1)'],
      [['turn', '--output', join(dir, 'no/such/place.mmd')], 'place.mmd cannot be written: there is no such file or directory'],
    ];
    for (const [args, message] of refused) {
      const error: unknown = await printed(...args).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
    }
  });
});
