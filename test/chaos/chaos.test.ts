import { describe, expect, it } from 'vitest';
import { chaos } from './chaos.js';

describe('a session whose process is killed at random moments and resumed each time', () => {
  it('loses and doubles no notification and no prompt, sends no invalid request, and runs no call twice', {
    timeout: 300_000,
  }, async () => {
    const { problems, kills, effects } = await chaos({ moments: 50, seed: 7, withinMs: 90_000 });
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThan(1);
    expect(effects).toBeGreaterThan(0);
  });
});
