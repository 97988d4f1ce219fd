import { describe, expect, test } from 'vitest';
import { tellCalls, toldFlow } from './support/flows.js';
import { cpuMeter, elements, fromKeyTo, megabytes, slowFrames, watchTasks, within } from './support/measure.js';
import { openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

/** Limits are two to four times what was measured; counts are exact. */
const context = await pageContext();

describe('many calls', () => {
  test.each([
    { calls: 10_000, cpuSeconds: 1.5, heap: 100 },
    { calls: 100_000, cpuSeconds: 8, heap: 250 },
  ])('$calls are counted, listed and filtered within bounds', { timeout: 90_000 }, async ({ calls, cpuSeconds, heap }) => {
    const system = toldFlow('many');
    tellCalls(system, calls);
    let work = async (): Promise<number> => 0;
    const opened = await openFlow(context, system, {
      prepare: async (fresh) => {
        work = await cpuMeter(fresh);
      },
    });
    const { page } = opened;
    try {
      await page.locator(`[data-calls="${calls}"][data-last-seq="${system.log.lastSeq}"]`).waitFor({ timeout: 60_000 });
      expect(await work()).toBeLessThan(cpuSeconds);
      expect(await elements(page)).toBeLessThan(1500);
      expect(await megabytes(page)).toBeLessThan(heap);
      expect(await page.locator('#calls').getAttribute('aria-rowcount')).toBe(String(calls));
      await page.locator('#filter').fill('is:failed item 7');
      await page.locator('[data-call="toolu_7"]').waitFor();
      expect(await elements(page)).toBeLessThan(1500);
    } finally {
      await opened.close();
    }
  });
});

describe('large bodies', () => {
  test('are sent when opened and not before, and shown as a virtual tree', async () => {
    const system = toldFlow('large');
    tellCalls(system, 3);
    const text = JSON.stringify({ lines: Array.from({ length: 4000 }, (_, i) => ({ line: i, text: 'x'.repeat(230) })) });
    const body = system.log.bodies.putText(text);
    system.log.put({ type: 'result', toolUseId: 'toolu_1', toolName: 'Bash', outcome: 'succeeded', isError: false, summary: 'done', body });
    await within(1000, async () => {
      let received = 0;
      const opened = await openFlow(context, system, {
        prepare: async (fresh) => {
          fresh.on('websocket', (socket) =>
            socket.on('framereceived', ({ payload }) => {
              received += payload.length;
            }),
          );
        },
      });
      const { page } = opened;
      try {
        await caughtUp(page, system.log);
        await page.locator('[data-call="toolu_1"]').click();
        await page.getByRole('tab', { name: 'Input' }).click();
        expect(received).toBeLessThan(100_000);
        const shown = await fromKeyTo(page, '#json-output [role=treeitem]');
        await page.keyboard.press('ArrowRight');
        const taken = await shown();
        expect(received).toBeGreaterThan(text.length);
        await page.getByText('[ 4,000 items ]').click();
        await page.locator('#json-output [role=treeitem]').nth(5).waitFor();
        expect(await page.locator('#json-output [role=treeitem]').count()).toBeLessThan(100);
        return taken;
      } finally {
        await opened.close();
      }
    });
  });

  test.each([
    { what: 'one string', text: JSON.stringify({ output: 'line of output\n'.repeat(700_000) }), lines: 70_001 },
    { what: 'very many short lines', text: 'line of output\n'.repeat(700_000), lines: 700_001 },
  ])('of 10 MB ($what) show their beginning and size at once, the rest on request, and never freeze the page', async ({ text, lines }) => {
    const system = toldFlow('huge');
    tellCalls(system, 1);
    const body = system.log.bodies.putText(text);
    system.log.put({ type: 'result', toolUseId: 'toolu_0', toolName: 'Bash', outcome: 'succeeded', isError: false, summary: 'done', body });
    await within(200, async () => {
      const opened = await openFlow(context, system);
      const { page } = opened;
      try {
        await caughtUp(page, system.log);
        await page.locator('[data-call="toolu_0"]').click();
        const longestTask = await watchTasks(page);
        await page.getByRole('tab', { name: 'Output' }).click();
        await page.getByText(/The first 262 kB of 1\d\.\d MB/).waitFor();
        await page.getByRole('button', { name: 'Load all' }).click();
        await page.getByText(/^1\d\.\d MB$/).waitFor();
        await page.locator(`#text-output[aria-label="output, ${new Intl.NumberFormat('en').format(lines)} lines"]`).waitFor();
        await page.locator('#text-output').press('End');
        await page.locator(`#text-output-${lines - 1}`).waitFor();
        expect(await page.locator('#text-output [role=option]').count()).toBeLessThan(100);
        return await longestTask();
      } finally {
        await opened.close();
      }
    });
  });
});

describe('a busy flow', () => {
  test('of 2,000 events a second leaves the page smooth and the keyboard heard', async () => {
    await within(100, async () => {
      const system = toldFlow('busy');
      tellCalls(system, 500);
      const opened = await openFlow(context, system);
      const { page } = opened;
      // Four events a call, 500 calls a second, however late the timer comes.
      const since = Date.now();
      let sent = 0;
      const timer = setInterval(() => {
        for (; sent < (Date.now() - since) / 2; sent++) tellCalls(system, 1);
      }, 10);
      try {
        await page.locator('[data-call]').first().waitFor();
        await page.locator('#filter').focus();
        const before = sent;
        const frames = slowFrames(page);
        await page.keyboard.type('item');
        expect(await page.locator('#filter').inputValue()).toBe('item');
        const slow = await frames;
        expect(sent - before).toBeGreaterThan(1200);
        return slow;
      } finally {
        clearInterval(timer);
        await opened.close();
      }
    });
  });
});

describe('a place in a list', () => {
  test('comes back when a filter is cleared', async () => {
    const system = toldFlow('place');
    tellCalls(system, 1000);
    const opened = await openFlow(context, system);
    const { page } = opened;
    try {
      await caughtUp(page, system.log);
      const list = page.locator('#calls');
      await list.evaluate((element) => element.scrollTo(0, 12_500));
      await page.locator('[data-call="toolu_503"]').click();
      const top = await list.evaluate((element) => element.scrollTop);
      await page.locator('#filter').fill('is:failed');
      await page.locator('[data-call="toolu_7"]').waitFor();
      await page.locator('#filter').fill('');
      await page.locator('[data-call="toolu_503"][aria-selected=true]').waitFor();
      expect(await list.evaluate((element) => element.scrollTop)).toBe(top);
      // A row that was chosen meanwhile is what one wants to see.
      await page.locator('#filter').fill('is:failed');
      await page.locator('[data-call="toolu_57"]').click();
      await page.locator('#filter').fill('');
      await page.locator('[data-call="toolu_57"][aria-selected=true]').waitFor();
      const box = await page.locator('[data-call="toolu_57"]').boundingBox();
      const around = await list.boundingBox();
      expect(box && around && box.y >= around.y && box.y + box.height <= around.y + around.height + 1).toBe(true);
    } finally {
      await opened.close();
    }
  });
});
