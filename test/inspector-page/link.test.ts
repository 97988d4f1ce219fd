import { describe, expect, test } from 'vitest';
import { askOver, keepLink } from './support/link.js';
import { on, story } from './support/onPage.js';
import { openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

const context = await pageContext();

const breakpoint = { id: 'x', enabled: true, origin: 'page', on: 'error' };

describe('a link that only views', () => {
  test('gets a typed error for everything that acts, and nothing moves', async () => {
    const { system, gate, root } = await story();
    const [question] = system.desk.pending;
    if (!question) throw new Error('the story ends with a question');
    await on(openFlow(context, system, { scope: 'view', prepare: keepLink }), async ({ page, server }) => {
      await caughtUp(page, system.log);
      const before = { seq: system.log.lastSeq, state: root.getSnapshot(), pending: system.desk.pending };
      const acts: readonly (readonly [string, ...unknown[]])[] = [
        ['answer', { id: question.id, inputDigest: question.inputDigest, behavior: 'allow' }],
        ['setBreakpoints', { breakpoints: [breakpoint] }],
        ['pause'],
        ['resume'],
        ['step', {}],
        ['runToEnd', { actor: 'session' }],
        ['restart', { seq: 1, words: 'go on' }],
        ['export', { kind: 'recording' }],
      ];
      for (const [method, ...args] of acts) {
        expect(await askOver(page, method, ...args), method).toEqual({
          ok: false,
          error: { code: 'forbidden', message: expect.stringContaining('only views') },
        });
      }
      // Keys and buttons are off as well; the same link still reads.
      await page.keyboard.press('F8');
      await page.locator('#approval').press('y');
      expect(await askOver(page, 'graphs')).toMatchObject({ ok: true });
      expect({ seq: system.log.lastSeq, state: root.getSnapshot(), pending: system.desk.pending }).toEqual(before);
      expect(gate.state.paused).toBe(false);
      expect(gate.breakpoints).toEqual([]);
      expect(server.audit.map(({ method, outcome }) => [method, outcome])).toEqual(acts.map(([method]) => [method, 'forbidden']));
    });
  });

  test('differs from one that controls by its token alone', async () => {
    const { system, gate } = await story();
    await on(openFlow(context, system, { prepare: keepLink }), async ({ page }) => {
      await caughtUp(page, system.log);
      expect(await askOver(page, 'setBreakpoints', { breakpoints: [breakpoint] })).toEqual({ ok: true, value: [breakpoint] });
      expect(await askOver(page, 'pause')).toMatchObject({ ok: true, value: { paused: true } });
      expect(gate.state.paused).toBe(true);
      await page.getByRole('button', { name: /^Resume/ }).waitFor();
    });
  });
});
