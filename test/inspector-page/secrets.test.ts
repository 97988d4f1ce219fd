import { expect, test } from 'vitest';
import type { InspectedSystem } from '../../src/inspect/index.js';
import { PLANTED, plantedEnv } from '../inspect/support/secrets.js';
import { toldFlow } from './support/flows.js';
import { on } from './support/onPage.js';
import { openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { caughtUp } from './support/read.js';

const context = await pageContext();

/** Two calls with secrets in their inputs, hooks, progress, errors and results, and a question about one more. */
function plantedFlow(): InspectedSystem {
  const system = toldFlow('planted', plantedEnv);
  const { log, sink, desk } = system;
  const all = PLANTED.map(({ text }) => text);
  log.put({ type: 'actor.started', actor: 'executor', parent: null, kind: 'executor', machine: null, name: 'executor', label: '' });
  const start = (n: number, label: string) =>
    log.put({
      type: 'actor.started',
      actor: `executor/call-${n}`,
      parent: 'executor',
      kind: 'toolCall',
      machine: null,
      name: 'Bash',
      label: log.text(label, 200),
      toolUseId: `toolu_${n}`,
      input: log.bodies.put({ command: label }),
    });
  all.forEach((text, n) => {
    start(n, text);
    sink.hookRun(
      { event: 'PreToolUse', name: 'guard', handler: 'command', command: text, ms: 1, exitCode: 1, status: 'error', output: text },
      `toolu_${n}`,
    );
    for (const piece of text.match(/[\s\S]{1,7}/g) ?? []) sink.progress(`toolu_${n}`, { message: piece });
    sink.result({
      toolUseId: `toolu_${n}`,
      toolName: 'Bash',
      outcome: { kind: 'failed', isError: true, summary: text, durationMs: 1 },
      body: `failed: ${text}`,
    });
    sink.note('warning', text);
  });
  desk.open({ id: 'ask:1', toolUseId: 'q', toolName: 'Bash', title: all[0] ?? '', input: { all }, inputDigest: 'd' }, () => undefined);
  return system;
}

test('no planted secret comes to the page, whatever one opens', { timeout: 60_000 }, async () => {
  const system = plantedFlow();
  const seen: string[] = [];
  await on(openFlow(context, system), async ({ page }) => {
    await caughtUp(page, system.log);
    const look = async (): Promise<void> => {
      seen.push(
        await page.evaluate(() => `${document.title}\n${document.documentElement.outerHTML}\n${document.body.textContent}`),
        ...(await page
          .locator('input, textarea')
          .evaluateAll((fields) => fields.map((field) => ('value' in field ? String(field.value) : '')))),
      );
    };
    await look();
    // A list that follows the flow scrolls away what is to be clicked.
    await page.locator('#calls [data-call][aria-selected=true]').waitFor();
    await page.getByRole('button', { name: 'Selection follows what is going on', pressed: true }).click();
    const calls = await page.locator('#calls [data-call]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-call') ?? ''));
    expect(calls.length).toBeGreaterThan(5);
    for (const call of calls) {
      await page.locator(`#calls [data-call="${call}"]`).click();
      for (const tab of ['Input', 'Output', 'Raw', 'Why']) {
        await page.getByRole('tab', { name: tab }).click();
        await look();
      }
    }
    for (const tab of ['Events', 'Errors']) {
      await page.getByRole('tab', { name: tab }).click();
      await look();
    }
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByLabel('Chrome trace').check();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    await look();
  });
  const shown = seen.join('\n');
  expect(shown).toContain('‹redacted');
  const leaked = PLANTED.filter(({ value }) => shown.includes(value) || shown.includes(JSON.stringify(value).slice(1, -1)));
  expect(leaked.map(({ name }) => name)).toEqual([]);
});
