import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { exportFlow } from '../../src/inspect/exports/exportFlow.js';
import { readFlow } from '../../src/inspect/index.js';
import { answer, jsonl, result, text, toolUse, user } from '../inspect/support/transcripts.js';
import { violations } from './support/axe.js';
import { cpuMeter, elements, megabytes } from './support/measure.js';
import { on } from './support/onPage.js';
import { openFile, watchedPage } from './support/open.js';
import { pageContext } from './support/pageContext.js';

const shared = fileURLToPath(new URL('../../../shared/data/transcripts', import.meta.url));
const absent = existsSync(shared) ? false : `needs ${shared}`;

const context = await pageContext();

/** Serves a transcript as `sixgates inspect` does, and opens its page. */
const onTranscript = (
  file: string,
  work: (page: Page, complaints: readonly string[]) => Promise<void>,
  prepare?: (page: Page) => Promise<void>,
): Promise<void> =>
  on(openFile(context, file, prepare), async ({ page, complaints, opened }) => {
    const calls = opened.recording.header.source?.calls;
    await page.locator(`[data-calls="${calls}"][data-last-seq="${opened.recording.events.at(-1)?.seq}"]`).waitFor({ timeout: 30_000 });
    await work(page, complaints);
  });

function newFile(bytes: Buffer): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sixgates-page-')), 'session-1.jsonl');
  writeFileSync(file, bytes);
  return file;
}

/** What a transcript holds, counted from its raw lines without any of our code. */
function countRaw(file: string) {
  const calls = new Map<string, { answered: boolean; error: boolean }>();
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const blocks = lines.flatMap((line) => JSON.parse(line).message?.content ?? []).filter((block) => typeof block === 'object');
  for (const block of blocks) if (block.type === 'tool_use') calls.set(block.id, { answered: false, error: false });
  for (const block of blocks) {
    if (block.type === 'tool_result' && calls.has(block.tool_use_id))
      calls.set(block.tool_use_id, { answered: true, error: block.is_error === true });
  }
  return { calls, lines: lines.length };
}

/** Scrolls through the whole list of calls; the status each row shows, by call id. */
async function readCalls(page: Page): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  const list = page.locator('#calls');
  const height = await list.evaluate((element) => element.scrollHeight);
  for (let top = 0; top <= height; top += 150) {
    await list.evaluate((element, to) => element.scrollTo(0, to), top);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seen = await page
      .locator('#calls [data-call]')
      .evaluateAll((elements) =>
        elements.map((element) => [element.getAttribute('data-call') ?? '', element.querySelector('.status')?.textContent ?? ''] as const),
      );
    for (const [id, status] of seen) rows.set(id, status);
  }
  return rows;
}
/** Status, who decided, and how long it took, as a call's row says. */
const lastCells = async (page: Page, call: string): Promise<readonly string[]> =>
  (await page.locator(`[data-call="${call}"] [role=gridcell]`).allTextContents()).slice(-3);

describe.skipIf(absent)(`transcripts of real sessions${absent ? ` (${absent})` : ''}`, () => {
  test.each(['1af7fc5e.jsonl', '5c0375b4.jsonl', 'fe5e1c67.jsonl'])(
    '%s: every call is there, with its result, and the counts are those of the file',
    async (name) => {
      const raw = countRaw(join(shared, name));
      await onTranscript(join(shared, name), async (page, complaints) => {
        const rows = await readCalls(page);
        expect([...rows.keys()].sort()).toEqual([...raw.calls.keys()].sort());
        for (const [id, { answered, error }] of raw.calls) {
          expect(answered).toBe(true);
          expect(rows.get(id)).toMatch(error ? /^(?:failed|denied|invalid|stopped)$/ : /^succeeded$/);
        }
        await page.locator('[data-actor="session"]').click();
        await page.getByRole('tab', { name: 'Why' }).click();
        await page.getByText(`${raw.calls.size}, ${raw.calls.size} of them with their result`).waitFor();
        expect(await page.locator('[data-lines]').getAttribute('data-lines')).toBe(String(raw.lines));
        expect(complaints).toEqual([]);
      });
    },
  );

  test('the largest scrolls and filters, its subagents stand below their calls', async () => {
    const file = join(shared, 'fe5e1c67.jsonl');
    const raw = countRaw(file);
    await onTranscript(file, async (page) => {
      expect(await elements(page)).toBeLessThan(1500);
      const list = page.locator('#calls');
      expect(await list.getAttribute('aria-rowcount')).toBe(String(raw.calls.size));
      await page.getByRole('checkbox', { name: 'Failed only' }).check();
      const errors = [...raw.calls.values()].filter(({ error }) => error).length;
      await page.locator(`#calls[aria-rowcount="${errors}"]`).waitFor();
      await page.getByRole('checkbox', { name: 'Failed only' }).uncheck();
      await page.locator('#filter').fill('agent:data');
      await page.locator('#calls [data-call]', { hasText: 'types/' }).first().waitFor();
      const ofAgent = Number(await list.getAttribute('aria-rowcount'));
      expect(ofAgent).toBeGreaterThan(10);
      expect(ofAgent).toBeLessThan(raw.calls.size);
      await page.locator('#calls [data-call]', { hasText: 'types/' }).first().click();
      await page.locator('[role=treeitem]', { hasText: 'agent Create data models' }).waitFor();
      await page.locator('#filter').fill('');
      await page.locator(`#calls[aria-rowcount="${raw.calls.size}"]`).waitFor();
    });
  });
});

describe('a transcript of 10,000 calls', () => {
  test('is counted, listed, scrolled and filtered within bounds', { timeout: 90_000 }, async () => {
    const calls = 10_000;
    const lines = [user('go', { s: 0 })];
    for (let i = 0; i < calls; i++) {
      // Two parallel calls an answer.
      const message = `msg_${i >> 1}`;
      lines.push(answer(message, toolUse(`toolu_${i}`, i % 3 === 0 ? 'Bash' : 'Read', { command: `item ${i}` }), { s: i }));
      lines.push(result(`toolu_${i}`, `output of item ${i}`, { s: i + 0.5, isError: i % 50 === 7 }));
    }
    let work = async (): Promise<number> => 0;
    await onTranscript(
      newFile(jsonl(lines)),
      async (page) => {
        expect(await work()).toBeLessThan(2.5);
        expect(await elements(page)).toBeLessThan(1500);
        expect(await megabytes(page)).toBeLessThan(100);
        const list = page.locator('#calls');
        expect(await list.getAttribute('aria-rowcount')).toBe(String(calls));
        await list.evaluate((element) => element.scrollTo(0, 5000 * 25));
        await page.locator('[data-call="toolu_5003"]').click();
        const top = await list.evaluate((element) => element.scrollTop);
        const before = await work();
        await page.locator('#filter').fill('is:failed item 7');
        await page.locator('[data-call="toolu_7"]').waitFor();
        expect((await work()) - before).toBeLessThan(1);
        expect(await elements(page)).toBeLessThan(1500);
        await page.locator('#filter').fill('');
        await page.locator('[data-call="toolu_5003"][aria-selected=true]').waitFor();
        expect(await list.evaluate((element) => element.scrollTop)).toBe(top);
      },
      async (page) => {
        work = await cpuMeter(page);
      },
    );
  });
});

describe('what a transcript does not tell', () => {
  const side = { isSidechain: true, agentId: 'a1' };
  const small = (): Buffer =>
    jsonl([
      user('mend the build', { s: 0 }),
      answer('msg_1', text('I look.'), { s: 1 }),
      answer('msg_1', toolUse('toolu_bash', 'Bash', { command: 'npm test' }), { s: 2 }),
      answer('msg_1', toolUse('toolu_agent', 'Task', { description: 'Explore', prompt: 'look around' }), { s: 2 }),
      result('toolu_bash', 'exit code 1', { s: 4, isError: true }),
      user('look around', { s: 3, more: side }),
      answer('msg_s', toolUse('toolu_inner', 'Glob', { pattern: '**' }), { s: 5, more: side }),
      result('toolu_inner', 'a.ts', { s: 6, more: side }),
      'half a line',
      result('toolu_agent', 'seen', { s: 7 }),
      {
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger: 'auto' },
        uuid: 'c1',
        timestamp: '2026-11-30T09:00:08.000Z',
      },
      answer('msg_2', toolUse('toolu_open', 'Write', { file_path: '/b' }), { s: 9 }),
    ]);

  test('is shown as unknown: gates, decision, states, and the end of a call without a result', async () => {
    await onTranscript(newFile(small()), async (page, complaints) => {
      await page.locator('.pill', { hasText: 'transcript' }).waitFor();
      await page.locator('[data-call="toolu_bash"]').click();
      await page.getByRole('tab', { name: 'Why' }).click();
      await page.locator('[data-verdict=unknown]').waitFor();
      const why = await page.locator('#details-panel').textContent();
      expect(why).toContain('line 3');
      expect(why).toContain('line 5');
      expect(await page.locator('[data-gate]').evaluateAll((gates) => gates.map((gate) => gate.getAttribute('data-status')))).toEqual(
        Array.from({ length: 6 }, () => 'unknown'),
      );
      expect(await lastCells(page, 'toolu_bash')).toEqual(['failed', 'unknown', '2.00 s']);
      expect(await lastCells(page, 'toolu_open')).toEqual(['no result', 'unknown', 'unknown']);
      await page.getByText('gates, hooks, decisions and states are not in it').waitFor();
      await page.getByRole('tab', { name: 'Output' }).click();
      await page.locator('#details-panel', { hasText: 'exit code 1' }).waitFor();

      await page.locator('#filter').fill('agent:explore');
      await page.locator('#calls[aria-rowcount="1"]').waitFor();
      await page.locator('#filter').fill('');
      await page.getByRole('tab', { name: /^Errors/ }).click();
      await page.getByText('Line 9 is not valid JSON.').waitFor();
      await page.getByRole('tab', { name: /^Events/ }).click();
      await page.locator('#filter').fill('compact');
      await page
        .locator('#events [data-seq]')
        .getByText(/^compact_boundary/)
        .click();
      await page.locator('#details-panel', { hasText: 'line 11' }).waitFor();
      expect(complaints).toEqual([]);
      expect(await violations(page)).toEqual([]);
    });
  });

  test('makes no regression test: the export says why; a one-file page shows the same without a server', async () => {
    const file = newFile(small());
    await onTranscript(file, async (page) => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('radio', { name: /^Vitest test/ }).check();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page
        .getByRole('alert')
        .getByText(/A transcript holds calls and results, not the events and states of a machine/)
        .waitFor();
      await page.getByRole('radio', { name: /^One-file HTML/ }).check();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('session-1.jsonl.html').waitFor();
    });
    const html = join(mkdtempSync(join(tmpdir(), 'sixgates-page-')), 'flow.html');
    writeFileSync(html, exportFlow(readFlow(file), 'html'));
    const { page, complaints, requests } = await watchedPage(context);
    try {
      await page.goto(pathToFileURL(html).href);
      await page.locator('[data-calls="4"]').waitFor();
      await page.locator('[data-link=recording]', { hasText: 'transcript' }).waitFor();
      expect(await lastCells(page, 'toolu_open')).toEqual(['no result', 'unknown', 'unknown']);
      expect(requests).toHaveLength(1);
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
    }
  });
});
