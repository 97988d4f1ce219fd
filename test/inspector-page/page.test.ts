import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page, WebSocket } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { encodeRecording, FlowIndex, snapshotRecording, startRecorder } from '../../src/inspect/index.js';
import { flowText } from '../../src/inspect/protocol/flowText.js';
import { everyMachine, strangeFlow } from './support/flows.js';
import { on, story } from './support/onPage.js';
import { openFile, openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { activeStates, caughtUp, selectActor } from './support/read.js';
import { simulate } from './support/simulate.js';
import { bugfix } from './support/story.js';

const context = await pageContext();

describe('the page and its origin', () => {
  test('asks its own origin only, hides the token, and breaks no policy in light and dark', async () => {
    const { system } = await story();
    await context.route(/^(?!http:\/\/127\.0\.0\.1)/, (route) => route.abort());
    await on(openFlow(context, system), async ({ page, server, requests, complaints }) => {
      await caughtUp(page, system.log);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const tab of ['Events', 'Sequence', 'Errors', 'Calls', 'Input', 'Output', 'Context diff', 'Raw', 'Why']) {
          await page.getByRole('tab', { name: tab }).click();
        }
      }
      expect(page.url()).not.toContain('token');
      const own = [`http://127.0.0.1:${server.port}/`, `ws://127.0.0.1:${server.port}/`];
      expect(requests.filter((url) => !own.some((origin) => url.startsWith(origin)) && !url.startsWith('data:'))).toEqual([]);
      expect(complaints).toEqual([]);
    });
    await context.unroute(/^(?!http:\/\/127\.0\.0\.1)/);
  });

  test('shows a view link everything and lets it do nothing', async () => {
    const { system } = await story();
    await on(openFlow(context, system, { scope: 'view' }), async ({ page }) => {
      await caughtUp(page, system.log);
      for (const name of [/^Pause/, /^Allow/, /^Deny/, 'Export']) expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
      expect(await page.getByText('this link may look, not answer').isVisible()).toBe(true);
    });
  });

  test('says of a flow from a file that it was recorded, not that it is live', async () => {
    const { system } = await story();
    const file = join(mkdtempSync(join(tmpdir(), 'sixgates-page-')), 'told.flow.jsonl.gz');
    await startRecorder(system.log, file).close();
    await on(openFile(context, file), async ({ page }) => {
      await page.locator('.pill', { hasText: 'recording' }).waitFor();
      expect(await page.locator('[data-link=live]').count()).toBe(1);
      expect(await page.getByRole('button', { name: 'End', exact: true }).count()).toBe(1);
      expect(await page.getByRole('toolbar', { name: 'Run control' }).count()).toBe(0);
    });
  });

  test('opens a recording as a file, also one that was packed twice, cut or written anew', async () => {
    const { system } = strangeFlow();
    const { system: told } = await story();
    const recording = snapshotRecording(told.log);
    const [packed, text] = [encodeRecording(recording), flowText(recording)];
    const whole = String(told.log.lastSeq);
    await on(openFlow(context, system), async ({ page, complaints }) => {
      await caughtUp(page, system.log);
      const shown = page.locator('[data-last-seq]');
      const open = async (name: string, bytes: Buffer): Promise<void> => {
        await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer: bytes });
      };
      await open('one.flow.jsonl.gz', packed);
      await page.locator(`[data-last-seq="${whole}"]`).waitFor();
      await open('cut.flow.jsonl.gz', packed.subarray(0, packed.length / 2));
      await page.getByText('The file was cut short; what could be read is shown.').waitFor();
      expect(Number(await shown.getAttribute('data-last-seq'))).toBeLessThan(Number(whole));
      for (const bytes of [gzipSync(packed), Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`)]) {
        await open('again.gz', gzipSync('{}'));
        await page
          .getByText(/^again.gz: This is no flow recording/)
          .last()
          .waitFor();
        await open('f.gz', bytes);
        await page.locator(`[data-last-seq="${whole}"]`).waitFor();
        await expect.poll(() => page.getByText('cut short').count()).toBe(0);
        await open('cut.gz', packed.subarray(0, packed.length / 2));
        await page.getByText('cut short').waitFor();
      }
      expect(complaints).toEqual([]);
    });
  });

  test('leaves the live flow when it opens a file: neither its events nor its questions nor its end come to what is shown', async () => {
    const { system } = await story();
    const short = strangeFlow().system.log;
    const links: WebSocket[] = [];
    const prepare = async (page: Page): Promise<void> => void page.on('websocket', (link) => links.push(link));
    await on(openFlow(context, system, { prepare }), async ({ page, server }) => {
      await caughtUp(page, system.log);
      await page.locator('input[type=file]').setInputFiles({
        name: 'short.flow.jsonl.gz',
        mimeType: 'application/gzip',
        buffer: encodeRecording(snapshotRecording(short)),
      });
      await page.locator(`[data-last-seq="${short.lastSeq}"]`).waitFor();
      system.log.put({ type: 'note', level: 'warning', text: 'of the live flow' });
      await expect.poll(() => links.map((link) => link.isClosed())).toEqual([true]);
      await server.close();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      expect(await page.locator('[data-link]').getAttribute('data-link')).toBe('recording');
      expect(await page.locator('[data-last-seq]').getAttribute('data-last-seq')).toBe(String(short.lastSeq));
      expect(await page.locator('#approval').count()).toBe(0);
    });
  });

  test('says so when the link is refused', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page, server }) => {
      await page.goto(`http://127.0.0.1:${server.port}/?other#token=wrong`);
      await page.locator('[data-link=refused]').waitFor();
      expect(await page.getByText('This link is not accepted.').isVisible()).toBe(true);
    });
  });
});

describe('the statechart', () => {
  test('shows exactly the active configuration, regions included, and one fired edge, after each event', async () => {
    const { actor, system } = strangeFlow();
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('[data-chart=strange]').waitFor();
      for (const type of ['NEXT', 'OTHER', 'JUMP', 'NEXT', 'NEXT', 'NEXT', 'OTHER'] as const) {
        actor.send({ type });
        await caughtUp(page, system.log);
        const expected = actor.getSnapshot()._nodes.map((node) => node.id);
        expect(await activeStates(page)).toEqual(expected.sort());
        expect(await page.locator('.wire.on').count()).toBe(1);
      }
    });
  });

  test('lays an unknown machine out in a worker, and says that it is at it', async () => {
    const { system } = strangeFlow();
    await context.route('**/*elk*', async (route) => {
      await new Promise((done) => setTimeout(done, 300));
      await route.continue();
    });
    await on(openFlow(context, system), async ({ page, requests }) => {
      await page.getByText(/Laying out \d+ states/).waitFor();
      await page.locator('[data-chart=strange]').waitFor({ timeout: 8000 });
      expect(requests.some((url) => url.includes('elk'))).toBe(true);
      expect(await page.locator('[data-chart=strange] [data-state]').count()).toBe(24);
    });
    await context.unroute('**/*elk*');
  });

  test('draws the machines of the library from shipped positions, with nothing overlapping', async () => {
    const system = everyMachine();
    await on(openFlow(context, system), async ({ page, requests }) => {
      await caughtUp(page, system.log);
      for (const { id } of system.log.graphs) {
        await selectActor(page, id);
        await page.locator(`[data-chart="${id}"]`).waitFor({ timeout: 3000 });
        expect({ id, ...(await page.evaluate(geometry)) }).toEqual({
          id,
          labelsOnLeaves: [],
          labelsOnLabels: [],
          wiresThroughLeaves: [],
          textOutside: [],
          smallest: 11,
        });
      }
      expect(requests.filter((url) => url.includes('elk'))).toEqual([]);
    });
  });

  test('holds its camera through transitions inside the view', async () => {
    const { actor, system } = strangeFlow();
    await on(openFlow(context, system), async ({ page }) => {
      const chart = page.locator('[data-chart=strange]');
      await chart.waitFor();
      await page.getByRole('button', { name: 'Fit the whole chart' }).click();
      const before = await chart.getAttribute('data-camera');
      for (let i = 0; i < 100; i++) actor.send({ type: 'NEXT' });
      await caughtUp(page, system.log);
      expect(await chart.getAttribute('data-camera')).toBe(before);
    });
  });
});

describe('time travel', () => {
  test('shows the fold of the recording at any step, while live goes on', async () => {
    const simulation = await simulate(bugfix({ after: 500, behavior: 'allow' }));
    const { system, time } = simulation;
    await time.play(12_000);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      const index = new FlowIndex();
      for (const event of system.log.events(0)) index.add(event);
      const actors = ['session', 'session/query', 'session/query/turn~2/executor/call-1'];
      let seed = 41;
      for (let step = 0; step < 20; step++) {
        seed = (seed * 1103515245 + 12345) & 0x7fffffff;
        const seq = 1 + (seed % index.lastSeq);
        const actor = actors.findLast((id) => (index.at(id, seq)?.configuration.length ?? 0) > 0) ?? 'session';
        await page.locator('#time').fill(String(seq));
        if (!(await page.locator(`[data-actor="${actor}"].selected`).isVisible())) {
          await page
            .getByRole('searchbox', { name: 'Find an actor' })
            .fill(actor.endsWith('call-1') ? 'npm test -- tax' : (actor.split('/').at(-1) ?? ''));
          await selectActor(page, actor);
          await page.getByRole('searchbox', { name: 'Find an actor' }).fill('');
        }
        await expect.poll(() => activeStates(page)).toEqual([...(index.at(actor, seq)?.configuration ?? [])].sort());
      }
      const seen = system.log.lastSeq;
      await time.play(23_000);
      expect(system.log.lastSeq).toBeGreaterThan(seen);
      await caughtUp(page, system.log);
      const banner = page.locator('.banner.travel');
      await expect.poll(() => banner.textContent()).toContain(`of ${new Intl.NumberFormat('en').format(system.log.lastSeq)}`);
      await banner.getByRole('button', { name: 'Live' }).click();
      await selectActor(page, 'session');
      await expect.poll(() => activeStates(page)).toEqual([...new Set(nodesOf(simulation.root.getSnapshot()))].sort());
    });
  });

  test('steps with the arrow keys', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      const last = system.log.lastSeq;
      expect(await page.locator('#time').inputValue()).toBe(String(last - 2));
      await page.keyboard.press('ArrowRight');
      expect(await page.locator('#time').inputValue()).toBe(String(last - 1));
    });
  });
});

describe('the connection', () => {
  test('survives a restart of the server: data stays, the gap is filled, no row comes twice', async () => {
    const simulation = await simulate(bugfix(null));
    const { system, time } = simulation;
    await time.play(6000);
    await on(openFlow(context, system), async (opened) => {
      const { page, server } = opened;
      await caughtUp(page, system.log);
      const calls = await page.locator('[data-calls]').getAttribute('data-calls');
      await server.close();
      await page.locator('[data-link=disconnected]').waitFor();
      expect(await page.getByText('Disconnected.').isVisible()).toBe(true);
      expect(await page.locator('[data-calls]').getAttribute('data-calls')).toBe(calls);
      await time.play(15_000);
      const { startInspectorServer } = await import('../../src/inspect/index.js');
      const again = await startInspectorServer(system, { port: server.port, tokens: server.tokens, pageDir: 'dist/inspector' });
      try {
        await page.locator('[data-link=live]').waitFor({ timeout: 10_000 });
        await caughtUp(page, system.log);
        const events = new Intl.NumberFormat('en').format(system.log.lastSeq);
        expect(await page.getByRole('tab', { name: 'Events' }).textContent()).toContain(events);
        expect(await page.locator('.total.warn').count()).toBe(0);
        await page.getByRole('tab', { name: 'Calls' }).click();
        const ids = await page.locator('[data-call]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-call')));
        expect(new Set(ids).size).toBe(ids.length);
      } finally {
        await again.close();
      }
    });
  });
});

function nodesOf(snapshot: unknown): readonly string[] {
  if (typeof snapshot !== 'object' || snapshot === null || !('_nodes' in snapshot) || !Array.isArray(snapshot._nodes)) return [];
  return snapshot._nodes.map((node: { readonly id: string }) => node.id);
}

/** Runs in the page: what overlaps in the chart that is shown, in chart units. */
function geometry() {
  interface Box {
    readonly id: string;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }
  const boxOf = (id: string, element: SVGGraphicsElement): Box => {
    const { x, y, width, height } = element.getBBox();
    return { id, x, y, width, height };
  };
  const all = (selector: string): SVGGraphicsElement[] => [...document.querySelectorAll<SVGGraphicsElement>(selector)];
  const hits = (a: Box, b: Box, air = 0.5): boolean =>
    a.x + air < b.x + b.width && b.x + air < a.x + a.width && a.y + air < b.y + b.height && b.y + air < a.y + a.height;
  const leaves = all('.state.leaf').flatMap((state) => {
    const box = state.querySelector<SVGGraphicsElement>('.box');
    return box ? [boxOf(state.getAttribute('data-state') ?? '', box)] : [];
  });
  const labels = all('.label').flatMap((label) => {
    const box = label.querySelector<SVGGraphicsElement>('rect');
    return box ? [boxOf(label.getAttribute('data-label') ?? '', box)] : [];
  });
  const labelsOnLeaves = labels.flatMap((label) => leaves.filter((leaf) => hits(label, leaf)).map((leaf) => `${label.id} on ${leaf.id}`));
  const labelsOnLabels = labels.flatMap((label, at) =>
    labels
      .slice(at + 1)
      .filter((other) => hits(label, other))
      .map((other) => `${label.id} on ${other.id}`),
  );
  const textOutside = all('.label').flatMap((label) => {
    const box = label.querySelector<SVGGraphicsElement>('rect')?.getBBox();
    const wide = [...label.querySelectorAll('text')].some((text) => box && text.getBBox().width > box.width + 0.5);
    return wide ? [label.getAttribute('data-label') ?? ''] : [];
  });
  // A wire may touch the leaf it leaves or enters, and no other.
  const wiresThroughLeaves = all('.wire').flatMap((wire) => {
    const path = wire.querySelector<SVGPathElement>('path');
    if (!path) return [];
    const length = path.getTotalLength();
    const touches = new Set<string>();
    for (let at = 0; at <= length; at += 3) {
      const { x, y } = path.getPointAtLength(at);
      for (const leaf of leaves) {
        const inside = x > leaf.x + 1 && x < leaf.x + leaf.width - 1 && y > leaf.y + 1 && y < leaf.y + leaf.height - 1;
        if (inside && at > 4 && at < length - 4) touches.add(leaf.id);
      }
    }
    return [...touches].map((leaf) => `${wire.getAttribute('data-wire')} through ${leaf}`);
  });
  const sizes = all('.chart text').map((text) => Number.parseFloat(getComputedStyle(text).fontSize));
  return { labelsOnLeaves, labelsOnLabels, wiresThroughLeaves, textOutside, smallest: Math.min(...sizes) };
}
