import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSearchIndex } from '../../src/session/searchIndex.js';
import { createToolbox } from '../../src/session/toolbox.js';
import { buildTool } from '../../src/tool/index.js';
import type { AnyTool } from '../../src/tool/types.js';
import { toolSearchTool } from '../../src/tools/tool-search.js';
import { contextIn, run, shown } from './context.js';

const deferred = (name: string, description: string, extra: { searchHint?: string; argument?: string } = {}): AnyTool =>
  buildTool({
    name,
    description,
    shouldDefer: true,
    searchHint: extra.searchHint,
    inputSchema: z.strictObject({ [extra.argument ?? 'value']: z.string() }),
    call: async () => ({ data: name }),
  });

const TOOLS = [
  deferred('CronCreate', 'Schedules a prompt', { searchHint: 'timer alarm' }),
  deferred('CronDelete', 'Removes a schedule'),
  deferred('Forecast', 'Predicts rain', { argument: 'postcode' }),
  deferred('Translate', 'Translates a text between languages'),
];

function searching(tools: readonly AnyTool[] = TOOLS, byReference = false) {
  const toolbox = createToolbox({
    session: { tools, builtInTools: ['ToolSearch'] },
    hasServers: false,
    deferral: { kind: 'share', percent: 10 },
    byReference,
    hidden: () => false,
    loadedBefore: [],
    onReload: () => {},
  });
  return { toolbox, context: contextIn('/tmp', { capabilities: { toolSearch: createSearchIndex(toolbox, byReference) } }) };
}

async function found(query: string, more: object = {}): Promise<string> {
  const { context } = searching();
  const tool = toolSearchTool();
  return shown(tool, await run(tool, { query, ...more }, context));
}

describe('ToolSearch', () => {
  it('takes exact names, several at once, in any case', async () => {
    expect(await found('select:CronDelete,translate')).toMatch(/- CronDelete: .*\n- Translate: /);
  });

  it('says which names there are not, and loads the others', async () => {
    expect(await found('select:CronDelete,Nothing')).toMatch(/CronDelete[\s\S]*no tool named Nothing/);
  });

  it('says of a tool that is there already that it need not be loaded, also by a former name', async () => {
    const plain = (name: string, aliases: readonly string[]) =>
      buildTool({ name, aliases, description: name, inputSchema: z.strictObject({}), call: async () => ({ data: name }) });
    const old = buildTool({
      name: 'Stop',
      aliases: ['Kill'],
      description: 'Stops',
      shouldDefer: true,
      inputSchema: z.strictObject({}),
      call: async () => ({ data: 0 }),
    });
    const { context } = searching([...TOOLS, plain('Agent', ['Task']), old]);
    const tool = toolSearchTool();
    const answer = shown(tool, await run(tool, { query: 'select:Task,Agent,Kill,Nothing' }, context));
    expect(answer).toMatch(/- Stop: Stops\nAgent can be called without being loaded\.\nThere is no tool named Nothing\.$/);
  });

  it('finds words in name, hint, description and arguments, the name first', async () => {
    expect(await found('cron')).toMatch(/CronCreate[\s\S]*CronDelete/);
    expect(await found('alarm')).toContain('CronCreate');
    expect(await found('rain')).toContain('Forecast');
    expect(await found('postcode')).toContain('Forecast');
    expect(await found('schedule cron')).toMatch(/^Loaded[^\n]*\n- Cron/);
  });

  it('demands a word with a plus', async () => {
    expect(await found('+removes cron')).not.toContain('CronCreate');
  });

  it('loads five at most unless told otherwise', async () => {
    const many = Array.from({ length: 9 }, (_, n) => deferred(`Job${n}`, 'A job'));
    const { context } = searching(many);
    const tool = toolSearchTool();
    const lines = async (input: object) => shown(tool, await run(tool, input, context)).split('\n- ').length - 1;
    expect(await lines({ query: 'job' })).toBe(5);
    expect(await lines({ query: 'job', max_results: 2 })).toBe(2);
    expect(await lines({ query: 'select:Job1,Job2,Job3,Job4,Job5,Job6,Job7' })).toBe(7);
  });

  it('helps on when nothing matches', async () => {
    expect(await found('zebra')).toMatch(/No deferred tool matches/);
  });

  it('answers with references where the API expands them', async () => {
    const { context } = searching(TOOLS, true);
    const tool = toolSearchTool();
    const output = await run(tool, { query: 'select:Forecast' }, context);
    expect(tool.mapToolResultToToolResultBlockParam(output).content).toEqual([{ type: 'tool_reference', tool_name: 'Forecast' }]);
  });

  it('has the same text whatever tools there are', () => {
    expect(toolSearchTool().prompt()).toBe(toolSearchTool().prompt());
    expect(toolSearchTool().prompt()).not.toContain('Cron');
  });
});

describe('the loaded set', () => {
  it('changes what is sent only at its end', () => {
    const { toolbox } = searching();
    const before = toolbox.definitions([]).map(({ name }) => name);
    toolbox.load(['Translate']);
    toolbox.load(['CronCreate']);
    expect(toolbox.definitions([]).map(({ name }) => name)).toEqual([...before, 'Translate', 'CronCreate']);
    expect(toolbox.deferred().map(({ name }) => name)).toEqual(['CronDelete', 'Forecast']);
  });

  it('tells of a tool once, and again when its schema has changed', () => {
    const { toolbox } = searching();
    expect(toolbox.load(['Translate', 'Nothing'])).toEqual([{ name: 'Translate', schemaDigest: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
    expect(toolbox.load(['Translate'])).toEqual([]);
  });
});
