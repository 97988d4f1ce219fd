import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { labInProcess } from './bench/lab.js';
import { markdownReport } from './bench/markdown.js';
import { selectScenarios } from './bench/scenarios/index.js';
import { startBenchServer } from './bench/server.js';
import { ratioOf, spreadOf } from './bench/stats.js';
import { sectionText } from './bench/text.js';

test('a scenario gives a positive figure for every contestant', async () => {
  const server = await startBenchServer();
  try {
    const moduleURL = (file: string) => fileURLToPath(new URL(`./bench/${file.replace(/\.js$/, '.ts')}`, import.meta.url));
    const [scenario] = selectScenarios(['one-message-64-calls']);
    const section = await scenario?.run(labInProcess({ serverURL: server.url, moduleURL }));
    expect(section?.rows.map((row) => row.name)).toEqual(['hand-written loop', 'Sixgates', 'Sixgates, the statecharts alone']);
    for (const { value, ratio } of section?.rows ?? []) {
      expect(value.low).toBeGreaterThan(0);
      expect(value.median).toBeGreaterThanOrEqual(value.low);
      expect(value.high).toBeGreaterThanOrEqual(value.median);
      expect(ratio?.median).toBeGreaterThan(0);
    }
    if (section) {
      expect(sectionText(section)).toMatch(/Sixgates +[\d,.]+ µs\/call/);
      const report = markdownReport({ environment: [['Node', 'v20']], sections: [section], profiles: [], command: 'npm run bench' });
      expect(report).toContain('| hand-written loop |');
    }
  } finally {
    await server.close();
  }
}, 300_000);

test('a scenario that does not exist is refused with the names of those that do', () => {
  expect(() => selectScenarios(['fast'])).toThrow(/no scenario "fast".*executor.*one-message-64-calls/);
  expect(selectScenarios(['executor']).map(({ name }) => name)).toEqual([
    'one-message-64-calls',
    '200-turns',
    '200-conversations',
    'first-conversation',
    'streaming',
  ]);
});

test('a ratio is formed round by round, so that a slow round weighs on both', () => {
  expect(spreadOf([3, 1, 2, 10])).toEqual({ median: 2.5, low: 1, high: 10 });
  expect(ratioOf([2, 20, 4], [1, 10, 2])).toEqual({ median: 2, low: 2, high: 2 });
});
