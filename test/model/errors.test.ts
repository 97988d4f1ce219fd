import { describe, expect, test } from 'vitest';
import { fromApiError, toModelError } from '../../src/model/errors.js';

const place = { baseURL: 'https://gateway.example', model: 'claude-x', now: () => Date.parse('2026-01-01T00:00:00Z') };
const failed = (code: string, message = code) => new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });

describe('errors of the network', () => {
  test.each([
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('%s is a certificate error: not retried, with the way out', (code) => {
    expect(toModelError(failed(code), place)).toMatchObject({
      type: 'certificate_error',
      retryable: false,
      message: expect.stringMatching(/gateway\.example.*NODE_EXTRA_CA_CERTS/),
    });
  });

  test('TLS spoken to a server without it is not retried', () => {
    expect(toModelError(failed('EPROTO'), place)).toMatchObject({
      type: 'connection_error',
      retryable: false,
      message: expect.stringContaining('scheme'),
    });
  });

  test.each(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'UND_ERR_SOCKET'])('%s is a connection error, and retried', (code) => {
    expect(toModelError(failed(code), place)).toMatchObject({
      type: 'connection_error',
      retryable: true,
      message: expect.stringContaining(code),
    });
  });

  test('the reason is found at the end of the chain, also in one that never ends', () => {
    const cyclic = new Error('outer');
    cyclic.cause = cyclic;
    expect(toModelError(cyclic, place).message).toContain('outer');
    const many = new AggregateError([Object.assign(new Error('connect ECONNREFUSED ::1:80'), { code: 'ECONNREFUSED' })]);
    expect(toModelError(new TypeError('fetch failed', { cause: many }), place).message).toContain('connect ECONNREFUSED ::1:80');
  });

  test('anything can be thrown', () => {
    expect(toModelError('boom', place).message).toContain('boom');
    expect(toModelError(undefined, place).type).toBe('connection_error');
  });
});

test.each([
  failed('ERR_INVALID_URL', 'Invalid URL'),
  new TypeError('Failed to parse URL from nowhere/v1/messages'),
  new TypeError('fetch failed', { cause: new Error('bad port') }),
  new TypeError('fetch failed', { cause: new Error('unknown scheme') }),
])('an address that can never be asked is not asked again, and the setting is named: %o', (error) => {
  expect(toModelError(error, place)).toMatchObject({ retryable: false, message: expect.stringContaining('Check ANTHROPIC_BASE_URL') });
});

describe('errors of the API', () => {
  const header = (headers: Record<string, string>) => (name: string) => headers[name] ?? null;
  test.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j asks for a wait of %s ms', (headers, ms) => {
    expect(fromApiError({ status: 429, header: header(headers) }, place).retryAfterMs).toBe(ms);
  });

  test('the server may say itself whether to retry', () => {
    expect(fromApiError({ status: 500, header: header({ 'x-should-retry': 'false' }) }, place).retryable).toBe(false);
    expect(fromApiError({ status: 400, header: header({ 'x-should-retry': 'true' }) }, place).retryable).toBe(true);
  });

  test('a status without a body still has a type', () => {
    expect(fromApiError({ status: 503 }, place)).toMatchObject({ type: 'api_error', retryable: true });
    expect(fromApiError({ status: 418 }, place)).toMatchObject({ type: 'invalid_request_error', retryable: false });
  });
});
