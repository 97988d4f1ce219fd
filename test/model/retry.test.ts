import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultRetryPolicy, isRetryable, retryDelay, retryPolicyFrom } from '../../src/model/retry.js';

test('delays double from half a second and stop growing at 32 s', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 2000].map((attempt) => retryDelay(attempt, {}))).toEqual([
    500, 1000, 2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000,
  ]);
});

test('retry-after wins over the exponential delay; zero does not', () => {
  expect(retryDelay(1, { retryAfterMs: 60_000 })).toBe(60_000);
  expect(retryDelay(7, { retryAfterMs: 20 })).toBe(20);
  expect(retryDelay(3, { retryAfterMs: 0 })).toBe(2000);
});

test('jitter shortens the delay by at most a quarter', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, share) => {
      const full = retryDelay(attempt, {});
      const spread = retryDelay(attempt, {}, { ...defaultRetryPolicy, jitter: () => share });
      expect(spread).toBeLessThanOrEqual(full);
      expect(spread).toBeGreaterThanOrEqual(Math.floor(full * 0.75));
    }),
  );
});

test('a retry needs a retryable error, an attempt that is left, and a wait that is worth it', () => {
  const error = { type: 'overloaded_error', message: '', retryable: true };
  expect(isRetryable(error, 1)).toBe(true);
  expect(isRetryable(error, 10)).toBe(true);
  expect(isRetryable(error, 11)).toBe(false);
  expect(isRetryable({ ...error, retryable: false }, 1)).toBe(false);
  expect(isRetryable({ ...error, retryAfterMs: 3_600_000 }, 1)).toBe(false);
});

test('the environment sets the number of retries, up to 15', () => {
  expect(retryPolicyFrom({}).maxRetries).toBe(10);
  expect(retryPolicyFrom({ CLAUDE_CODE_MAX_RETRIES: '3' }).maxRetries).toBe(3);
  expect(retryPolicyFrom({ CLAUDE_CODE_MAX_RETRIES: '0' }).maxRetries).toBe(0);
  expect(retryPolicyFrom({ CLAUDE_CODE_MAX_RETRIES: '99' }).maxRetries).toBe(15);
  expect(retryPolicyFrom({ CLAUDE_CODE_MAX_RETRIES: 'many' }).maxRetries).toBe(10);
});
