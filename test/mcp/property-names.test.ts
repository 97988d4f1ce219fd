import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { speakableProperties } from '../../src/mcp/property-names.js';
import { text, toolUse } from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';
import { ScriptedMcpServer, toolInfo } from './support.js';

describe('properties whose names the API does not take', () => {
  const inputSchema: JsonObject = {
    type: 'object',
    properties: { $filter: { type: 'string' }, $top: { type: 'integer' }, _top: { type: 'string' }, plain: { type: 'string' } },
    required: ['$filter'],
  };

  it('have others for the model, and their own for the server', async () => {
    const mcp = new ScriptedMcpServer([toolInfo('list', { inputSchema }), toolInfo('good')]).echo();
    const { session, server, results } = await scene(
      [[toolUse('mcp__s__list', { _filter: 'a', _top_2: '5', plain: 'x' }), toolUse('mcp__s__list', { plain: 'x' })], [text('done')]],
      { mcpServers: { s: mcp.config }, permissions: { allow: ['mcp__s'] } },
    );
    await session.send('go').done;
    expect(server.requests[0]?.body.tools).toMatchObject([
      { name: 'mcp__s__good' },
      {
        name: 'mcp__s__list',
        input_schema: {
          properties: { _filter: { type: 'string' }, _top_2: { type: 'integer' }, _top: { type: 'string' }, plain: { type: 'string' } },
          required: ['_filter'],
        },
      },
    ]);
    expect(results().get('toolu_1_1')).toEqual({ text: 'list {"$filter":"a","$top":5,"plain":"x"}', isError: false });
    expect(results().get('toolu_1_2')?.text).toContain('`_filter` is required');
  });

  it('are renamed wherever the schema speaks of the input, and nowhere else', () => {
    const { schema } = speakableProperties({
      anyOf: [{ properties: { 'a b': {} }, required: ['a b'] }, { properties: { c: { properties: { 'd e': {} } } } }],
      dependentRequired: { 'a b': ['c'] },
      if: { properties: { 'a b': { const: 'a b' } } },
    });
    expect(schema).toEqual({
      anyOf: [{ properties: { a_b: {} }, required: ['a_b'] }, { properties: { c: { properties: { 'd e': {} } } } }],
      dependentRequired: { a_b: ['c'] },
      if: { properties: { a_b: { const: 'a b' } } },
    });
  });

  it('stay apart whatever they are cut to, and others are left as they are', () => {
    const long = Object.fromEntries(['x', 'y'].map((end) => [`${'k'.repeat(70)}${end}`, {}]));
    const { schema, restore } = speakableProperties({ properties: { ...long, ä: {}, ö: {}, '': {} } });
    const keys = Object.keys(schema.properties ?? {});
    expect(new Set(keys).size).toBe(5);
    for (const key of keys) expect(key).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(Object.keys(restore(Object.fromEntries(keys.map((key) => [key, 1])))).sort()).toEqual(['', ...Object.keys(long), 'ä', 'ö']);
    expect(speakableProperties(inputSchema).schema).toEqual(speakableProperties(inputSchema).schema);
    const fine: JsonObject = { type: 'object', properties: { a: {} } };
    expect(speakableProperties(fine).schema).toBe(fine);
  });
});
