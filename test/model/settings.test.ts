import { expect, test } from 'vitest';
import { DEFAULT_BASE_URL, DEFAULT_MAX_TOKENS, DEFAULT_MODEL, resolveModelSettings } from '../../src/model/settings.js';

test('options win over the environment, our own variables over the general ones, those over defaults', () => {
  const env = {
    ANTHROPIC_API_KEY: 'env-key',
    ANTHROPIC_BASE_URL: 'https://general.example/',
    ANTHROPIC_MODEL: 'general',
    SIXGATES_MODEL: 'own',
    CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1000',
  };
  expect(resolveModelSettings({ env })).toMatchObject({
    apiKey: 'env-key',
    baseURL: 'https://general.example',
    model: 'own',
    maxTokens: 1000,
  });
  expect(resolveModelSettings({ env, apiKey: 'given', model: 'given', maxTokens: 5 })).toMatchObject({
    apiKey: 'given',
    model: 'given',
    maxTokens: 5,
  });
  expect(resolveModelSettings({ env: {} })).toEqual({
    apiKey: undefined,
    authToken: undefined,
    baseURL: DEFAULT_BASE_URL,
    model: DEFAULT_MODEL,
    maxTokens: DEFAULT_MAX_TOKENS,
    idleTimeoutMs: 300_000,
    responseTimeoutMs: 600_000,
  });
});

test('blank and unreadable variables count as absent', () => {
  const env = { ANTHROPIC_API_KEY: ' ', ANTHROPIC_BASE_URL: '', SIXGATES_MAX_TOKENS: 'lots', CLAUDE_STREAM_IDLE_TIMEOUT_MS: '0' };
  expect(resolveModelSettings({ env })).toMatchObject({
    apiKey: undefined,
    baseURL: DEFAULT_BASE_URL,
    maxTokens: DEFAULT_MAX_TOKENS,
    idleTimeoutMs: 300_000,
  });
});

test('times beyond what a timer holds are the longest it holds, not none at all', () => {
  const env = { CLAUDE_STREAM_IDLE_TIMEOUT_MS: '99999999999', API_TIMEOUT_MS: '2147483648' };
  expect(resolveModelSettings({ env })).toMatchObject({ idleTimeoutMs: 2_147_483_647, responseTimeoutMs: 2_147_483_647 });
});
