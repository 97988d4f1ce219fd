import { describe, expect, test } from 'vitest';
import { ruleOrigin } from '../../machines/ruleOrigin.js';
import type { DecisionMade, FlowEvent } from '../../src/inspect/index.js';
import { violations } from './support/axe.js';
import { toldFlow } from './support/flows.js';
import { fromKeyTo, within } from './support/measure.js';
import { on, story } from './support/onPage.js';
import { openFlow } from './support/open.js';
import { pageContext } from './support/pageContext.js';
import { activeStates, caughtUp, selectActor } from './support/read.js';
import { simulate } from './support/simulate.js';
import { type CallScript, readOnly, rule, verdicts } from './support/story.js';

const context = await pageContext();

const openQuestion = {
  id: 'ask:toolu_1',
  toolUseId: 'toolu_1',
  toolName: 'Bash',
  title: 'git push',
  input: { command: 'git push origin main' },
  inputDigest: 'digest-1',
} as const;

describe('a question that waits', () => {
  test('is above every view, in a small window too, and takes a key only while it has focus', async () => {
    const { system } = await story();
    await on(openFlow(context, system), async ({ page }) => {
      await page.setViewportSize({ width: 1024, height: 640 });
      await caughtUp(page, system.log);
      const allow = page.getByRole('button', { name: /^Allow/ });
      const isInReach = async (): Promise<void> => {
        const box = await allow.boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= 1024 && box.y >= 0 && box.y + box.height <= 640).toBe(true);
        expect(await allow.evaluate(isOnTop)).toBe(true);
      };
      const tabs = await page.getByRole('tab').allTextContents();
      expect(tabs).toHaveLength(9);
      for (const tab of tabs) {
        await page.getByRole('tab', { name: tab, exact: true }).click();
        await isInReach();
      }
      for (const menu of ['Breakpoints', 'Export', 'Keys and help']) {
        await page.getByRole('button', { name: menu }).click();
        await page.getByRole('dialog').waitFor();
        await isInReach();
        await page.keyboard.press('Escape');
      }
      await page.keyboard.press('ArrowLeft');
      await page.getByText(/Viewing step/).waitFor();
      await isInReach();
      await page.getByRole('button', { name: 'Live' }).first().click();
      await page.getByRole('tab', { name: 'Why' }).click();
      await page.keyboard.press('y');
      expect(system.desk.pending).toHaveLength(1);
      await page.keyboard.press('q');
      expect(await page.locator('#approval').evaluate((card) => card === document.activeElement)).toBe(true);
      await page.keyboard.press('y');
      await expect.poll(() => system.desk.pending).toEqual([]);
      await page.locator('#approval').waitFor({ state: 'detached' });
    });
  });

  test('keeps its buttons, the menus and what steers in reach at 200 % of a small screen, among other questions', async () => {
    const { system } = await story();
    for (const n of [1, 2]) system.desk.open({ ...openQuestion, id: `ask:more-${n}`, toolUseId: `more-${n}` }, () => undefined);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 640, height: 400 });
      const inReach = async (name: string | RegExp): Promise<void> => {
        const button = page.getByRole('button', { name }).first();
        const box = await button.boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= 640 && box.y >= 0 && box.y + box.height <= 400, String(name)).toBe(true);
        expect(await button.evaluate(isOnTop), String(name)).toBe(true);
      };
      const answers = [/^Allow/, /^Deny/, 'Next question', 'Show call'];
      for (const name of [...answers, /^Pause/, 'Breakpoints', 'Export', 'Keys and help']) await inReach(name);
      for (const menu of ['Breakpoints', 'Export', 'Keys and help']) {
        await page.getByRole('button', { name: menu }).click();
        const box = await page.getByRole('dialog').boundingBox();
        expect(box && box.x >= 0 && box.x + box.width <= 640 && box.y + box.height <= 400, menu).toBe(true);
        expect(await page.getByRole('dialog').evaluate(isOnTop), menu).toBe(true);
        for (const name of answers) await inReach(name);
        await page.keyboard.press('Escape');
      }
      // What does not fit can be scrolled to, and the question stays where it is.
      const tab = page.getByRole('tab', { name: 'Raw' });
      await tab.scrollIntoViewIfNeeded();
      expect(await tab.evaluate(isOnTop)).toBe(true);
      for (const name of answers) await inReach(name);
    });
  });

  test('moves the chart within half a second of the key that allows it', async () => {
    await within(500, async () => {
      const { system } = await story();
      let taken = Number.NaN;
      await on(openFlow(context, system), async ({ page }) => {
        await caughtUp(page, system.log);
        await page.locator('#approval').focus();
        await page.locator('[data-chart=toolCall] [data-state="toolCall.executing.deciding.judging"][data-active=true]').waitFor();
        const moved = await fromKeyTo(page, '[data-state="toolCall.executing.calling.running"][data-active=true]');
        await page.keyboard.press('y');
        taken = await moved();
      });
      return taken;
    });
  });

  test('is answered once: the other side is told who was first', async () => {
    const system = toldFlow();
    const answers: unknown[] = [];
    const settle = system.desk.open(openQuestion, (answer) => {
      answers.push(answer);
      return undefined;
    });
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('#approval').waitFor();
      settle('terminal', 'deny');
      await page.getByText('Bash (git push) was denied by terminal.').waitFor();
      expect(await page.locator('#approval').count()).toBe(0);
      expect(system.desk.answer({ id: openQuestion.id, inputDigest: 'digest-1', behavior: 'allow' })?.code).toBe('alreadyAnswered');
      expect(answers).toEqual([]);
    });
  });

  test('keeps the card one reads when another question comes, and its key does not reach the new one', async () => {
    const system = toldFlow();
    const answered: string[] = [];
    const open = (n: number) =>
      system.desk.open({ ...openQuestion, id: `ask:${n}`, toolUseId: `${n}`, title: `push ${n}` }, () => {
        answered.push(String(n));
        return undefined;
      });
    open(1);
    await on(openFlow(context, system), async ({ page }) => {
      await page.locator('#approval').focus();
      open(2);
      await page.getByText('1 of 2').waitFor();
      await page.keyboard.press('y');
      await page.getByText('push 2').first().waitFor();
      await page.keyboard.press('y');
      expect(answered).toEqual(['1']);
    });
  });

  test('can be allowed only when its whole input has been in view', async () => {
    const system = toldFlow();
    system.desk.open({ ...openQuestion, input: { command: `echo ${'x'.repeat(50_000)}` } }, () => undefined);
    await on(openFlow(context, system), async ({ page }) => {
      const allow = page.getByRole('button', { name: /^Allow/ });
      await allow.waitFor();
      expect(await allow.isDisabled()).toBe(true);
      await page.locator('#approval').focus();
      await page.keyboard.press('y');
      expect(system.desk.pending).toHaveLength(1);
      await page.locator('.approval-input').evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await expect.poll(() => allow.isDisabled()).toBe(false);
    });
  });

  test('shows control and direction characters as escapes, and markup as text', async () => {
    const system = toldFlow();
    system.desk.open(
      { ...openQuestion, input: { command: 'ls \u202Etxt.exe\u001b[2K', html: '<img src=x onerror="document.title=1">' } },
      () => undefined,
    );
    await on(openFlow(context, system), async ({ page }) => {
      const input = page.locator('.approval-input');
      await input.waitFor();
      const text = await input.textContent();
      expect(text).toContain('\\u202E');
      expect(text).toContain('\\u001B');
      expect([...(text ?? '')].filter((character) => character === '\u202e' || character === '\u001b')).toEqual([]);
      expect(await input.locator('img').count()).toBe(0);
      expect(text).toContain('<img src=x onerror');
      expect(await page.title()).toContain('Sixgates inspector');
    });
  });

  test('and everything else that a stranger worded, in every view of a call', async () => {
    const system = toldFlow();
    const odd = (what: string): string => `${what} \u202Etxt.exe\u001b[2K`;
    const { log } = system;
    const actor = 'session/call-0';
    const about = { toolUseId: 'toolu_1', toolName: odd('tool') } as const;
    log.put({ type: 'actor.started', actor: 'session', parent: null, kind: 'session', machine: null, name: 'session', label: '' });
    const started = { kind: 'toolCall', machine: null, name: odd('tool'), label: odd('label'), toolUseId: 'toolu_1' } as const;
    log.put({ type: 'actor.started', actor, parent: 'session', ...started });
    log.put({ type: 'progress', toolUseId: 'toolu_1', message: odd('progress') });
    await on(openFlow(context, system), async ({ page }) => {
      const shows = async (words: string): Promise<void> => {
        await expect.poll(() => page.locator('.app').textContent()).toContain(`${words} \\u202Etxt.exe\\u001B[2K`);
        const hidden = page.locator('.app *', { hasText: /\p{Bidi_Control}|(?![\n\t])\p{Cc}/u });
        expect(await hidden.evaluateAll((all) => all.map((element) => element.className))).toEqual([]);
      };
      await caughtUp(page, log);
      await page.locator('[data-call=toolu_1]').click();
      await page.getByRole('tab', { name: 'Output' }).click();
      for (const words of ['tool', 'label', 'progress']) await shows(words);
      log.put({ type: 'result', ...about, outcome: 'failed', isError: true, summary: odd('summary'), body: log.bodies.put('no') });
      log.put({ type: 'note', level: 'warning', text: odd('note') });
      await caughtUp(page, log);
      await shows('failed: summary');
      await page.getByRole('tab', { name: 'Why' }).click();
      await shows('summary');
      for (const tab of ['Events', 'Errors']) {
        await page.getByRole('tab', { name: tab }).click();
        for (const words of ['failed: summary', 'note']) await shows(words);
      }
    });
  });

  test('can be answered with another input, a remembered rule, or a reason', async () => {
    const system = toldFlow();
    const answers: unknown[] = [];
    const suggestion = {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'git push *' }],
      behavior: 'allow',
      destination: 'localSettings',
    } as const;
    const ask = (id: string): void => {
      system.desk.open({ ...openQuestion, id, suggestions: [suggestion] }, (answer) => {
        answers.push(answer);
        return undefined;
      });
    };
    ask('ask:1');
    await on(openFlow(context, system), async ({ page }) => {
      const more = page.getByRole('button', { name: 'More answers' });
      await more.click();
      await page.getByLabel('add allow Bash(git push *) in your local project settings').check();
      await page.getByRole('button', { name: 'Allow, remember' }).click();
      await expect.poll(() => answers.at(-1)).toMatchObject({ behavior: 'allow', updatedPermissions: [suggestion] });
      ask('ask:2');
      await more.click();
      await page.getByRole('button', { name: 'Edit the input' }).click();
      await page.getByLabel('Edited input, JSON').fill('{"command": "git push --dry-run"}');
      await page.getByRole('button', { name: 'Allow edited' }).click();
      await expect.poll(() => answers.at(-1)).toMatchObject({ behavior: 'allow', updatedInput: { command: 'git push --dry-run' } });
      ask('ask:3');
      await more.click();
      await page.getByPlaceholder('reason (optional)').fill('not on a Friday');
      await page.getByRole('button', { name: 'Deny and stop the query' }).click();
      await expect.poll(() => answers.at(-1)).toMatchObject({ behavior: 'deny', message: 'not on a Friday', interrupt: true });
    });
  });
});

describe('why', () => {
  test('names the winner, its rule and place, hooks and shadowed rules as the decision has them', async () => {
    const calls = Object.entries(verdicts);
    const { system, time } = await simulate([{ thinks: 10, calls: calls.map(([, call]) => call) }]);
    await time.play();
    const decisions = system.log.events(0).filter((event: FlowEvent): event is DecisionMade => event.type === 'decision');
    expect(decisions).toHaveLength(calls.length);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      for (const { toolUseId, decision, mode } of decisions) {
        await page.locator(`[data-call="${toolUseId}"]`).click();
        const details = page.locator('#details-panel');
        await expect.poll(() => details.locator('[data-verdict]').getAttribute('data-verdict')).toBe(decision.behavior);
        const winner = details.locator('[data-winner=true]');
        expect(await winner.getAttribute('data-check')).toBe(decision.winner.check);
        expect(await details.locator('[data-check]').count()).toBe(decision.trace.length);
        const text = (await details.textContent()) ?? '';
        expect(text).toContain(mode);
        const { source } = decision.winner;
        if (source?.type === 'rule') {
          expect(await winner.textContent()).toContain(source.rule.text);
          expect(await winner.textContent()).toContain(ruleOrigin(source.rule));
        } else expect(await winner.textContent()).toContain(decision.winner.reason);
        if (source?.type === 'hook') expect(await winner.textContent()).toContain(source.hookName);
        for (const { rule: shadowed } of decision.shadowed) {
          expect(await details.locator('.shadowed').textContent()).toContain(shadowed.rule.text);
          expect(await details.locator('.shadowed').textContent()).toContain(ruleOrigin(shadowed.rule));
        }
      }
    });
  });
});

const bash = (command: string): CallScript => ({
  tool: 'Bash',
  input: { command },
  facts: { allowRule: { rule: rule('allow', 'Bash(echo *)', 3) } },
  runs: 50,
  output: 'done',
});

describe('pausing', () => {
  test('F8 holds events, F10 lets one go at a time, F8 lets all go', async () => {
    const { system, time, gate, root } = await simulate([{ thinks: 400, calls: [bash('echo 1')] }]);
    await time.play(100);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await selectActor(page, 'session');
      await page.keyboard.press('F8');
      await page.getByRole('button', { name: /^Resume/ }).waitFor();
      const before = await activeStates(page);
      root.send({ type: 'inbox.changed', waiting: 2, fromPerson: false });
      root.send({ type: 'question.opened', question: { callId: 'c', toolName: 'Bash', inputDigest: 'd' } });
      await page.getByRole('button', { name: '2 held' }).waitFor();
      expect(await activeStates(page)).toEqual(before);
      expect(gate.state.held).toHaveLength(2);
      const transitions = () => system.log.events(0).filter((event) => event.type === 'transition' && event.actor === 'session').length;
      const count = transitions();
      await page.keyboard.press('F10');
      await expect.poll(() => gate.state.held.length).toBe(1);
      await page.keyboard.press('F10');
      await expect.poll(() => gate.state.held.length).toBe(0);
      expect(transitions()).toBe(count + 2);
      await page.locator('[data-state="session.questions.open"][data-active=true]').waitFor();
      await page.keyboard.press('F8');
      await expect.poll(() => gate.state.paused).toBe(false);
    });
  });

  test('a breakpoint set by keyboard on a state of a nested actor stops before any action of the entry', async () => {
    const { system, time, gate } = await simulate([
      { thinks: 100, calls: [{ tool: 'Read', input: { file_path: '/a' }, facts: readOnly, runs: 10, output: 'x' }] },
      { thinks: 4000, calls: [bash('echo 2')] },
    ]);
    await time.play(900);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.locator('[data-call]').first().click();
      const state = page.locator('[data-state="toolCall.executing.calling"]');
      await state.focus();
      await page.keyboard.press('b');
      await expect.poll(() => gate.breakpoints.length).toBe(1);
      await expect.poll(() => state.getAttribute('aria-pressed')).toBe('true');
      await time.play();
      await page.getByText('Stopped at a breakpoint').waitFor();
      expect(gate.state.why).toMatchObject({ kind: 'breakpoint', state: 'toolCall.executing.calling' });
      const started = () => system.log.events(0).filter((event) => event.type === 'actor.started' && event.kind === 'tool').length;
      expect(started()).toBe(1);
      await page.locator('[data-call]').nth(1).click();
      await caughtUp(page, system.log);
      expect(await activeStates(page)).toContain('toolCall.executing.deciding.judging');
      await page.keyboard.press('F8');
      await time.play();
      await expect.poll(started).toBe(2);
    });
  });

  test('a breakpoint of one actor stops that actor and lets its namesakes pass', async () => {
    const [hook] = verdicts.hookDenies?.hooks ?? [];
    const slowly = (command: string): CallScript => ({ ...bash(command), safe: true, hooks: hook ? [{ ...hook, ms: 5000 }] : [] });
    const { system, time, gate } = await simulate([{ thinks: 400, calls: [slowly('echo 1'), slowly('echo 2')] }]);
    await time.play(2000);
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.locator('[data-call]', { hasText: 'echo 2' }).click();
      await page.locator('[data-state="toolCall.executing.calling"]').press('Enter');
      await page.getByLabel('only in Bash').check();
      await page.getByRole('button', { name: 'Break before entering' }).click();
      const second = 'session/query/turn/executor/call-1';
      await expect.poll(() => gate.breakpoints.map(({ actor }) => actor)).toEqual([second]);
      await expect.poll(() => page.locator('[data-state="toolCall.executing.calling"]').getAttribute('aria-pressed')).toBe('true');
      await page.locator('[data-call]', { hasText: 'echo 1' }).click();
      await expect.poll(() => page.locator('[data-state="toolCall.executing.calling"]').getAttribute('aria-pressed')).toBe('false');
      await time.play();
      await page.getByText('Stopped at a breakpoint').waitFor();
      expect(gate.state.why).toMatchObject({ actor: second, state: 'toolCall.executing.calling' });
      // The other way to one: the menu, for the actor that is selected.
      await page.getByRole('button', { name: 'Breakpoints' }).click();
      await page.getByLabel('Break on').selectOption('verdict');
      await page.getByLabel('Verdict').selectOption('ask');
      await page.getByLabel(/^Only in Bash echo 1/).check();
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await expect.poll(() => gate.breakpoints.at(-1)).toMatchObject({ on: 'verdict', actor: 'session/query/turn/executor/call-0' });
    });
  });

  test('lists breakpoints with their origin; one set in code can be disabled, not removed', async () => {
    const inCode = { id: 'c1', origin: 'code', enabled: true, on: 'tool', tool: 'Bash' } as const;
    const { system, gate } = await simulate([], { breakpoints: [inCode] });
    await on(openFlow(context, system), async ({ page }) => {
      await caughtUp(page, system.log);
      await page.getByRole('button', { name: 'Breakpoints' }).click();
      await page.getByText('set in code').waitFor();
      expect(await page.getByRole('button', { name: 'Remove tool Bash' }).count()).toBe(0);
      await page.getByRole('textbox', { name: 'Of what' }).fill('WebFetch');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByRole('button', { name: 'Remove tool WebFetch' }).waitFor();
      await page.getByLabel('Break on').selectOption('verdict');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await page.getByText('verdict deny').waitFor();
      await page.getByRole('button', { name: 'Remove tool WebFetch' }).click();
      await page.getByRole('checkbox', { name: 'tool Bash' }).uncheck();
      await expect
        .poll(() => gate.breakpoints.map((one) => `${one.origin} ${one.on} ${one.enabled}`))
        .toEqual(['code tool false', 'page verdict true']);
    });
  });
});

/** Runs in the page: whether the middle of an element is the element itself, not something over it. */
function isOnTop(element: Element): boolean {
  const { x, y, width, height } = element.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return top !== null && (element === top || element.contains(top));
}
