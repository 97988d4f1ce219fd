import { MAX_TIMER_MS } from './clock.js';

/** Key, address and limits. Options come before the environment, the environment before defaults. */
export interface ModelSettingsOptions {
  /** Default: `ANTHROPIC_API_KEY`. */
  readonly apiKey?: string | undefined;
  /** Default: `SIXGATES_BASE_URL`, `ANTHROPIC_BASE_URL`, else the Claude API. */
  readonly baseURL?: string | undefined;
  /** Model of requests that name none. Default: `SIXGATES_MODEL`, `ANTHROPIC_MODEL`, else `claude-sonnet-5-5`. */
  readonly model?: string | undefined;
  /** Output limit of requests that name none, in tokens. Default: `SIXGATES_MAX_TOKENS`, `CLAUDE_CODE_MAX_OUTPUT_TOKENS`, else 32,000. */
  readonly maxTokens?: number | undefined;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What options, environment and defaults came to. */
export interface ModelSettings {
  /** The API key; undefined where none is set. */
  readonly apiKey: string | undefined;
  /** A bearer token (`ANTHROPIC_AUTH_TOKEN`), as gateways use in place of a key. */
  readonly authToken: string | undefined;
  /** Address of the API, without a slash at its end. */
  readonly baseURL: string;
  /** Model of requests that name none. */
  readonly model: string;
  /** Output limit of requests that name none, in tokens. */
  readonly maxTokens: number;
  /** Longest silence of an open stream, in milliseconds (`CLAUDE_STREAM_IDLE_TIMEOUT_MS`). */
  readonly idleTimeoutMs: number;
  /** Longest wait for the head of the response, in milliseconds (`API_TIMEOUT_MS`). */
  readonly responseTimeoutMs: number;
}

export const DEFAULT_BASE_URL = 'https://api.anthropic.com';
export const DEFAULT_MODEL = 'claude-sonnet-5-5';
export const DEFAULT_MAX_TOKENS = 32_000;

/** Options before environment before defaults; blank environment variables count as absent. Source of the names: Claude Code docs, "Environment variables". */
export function resolveModelSettings(options: ModelSettingsOptions = {}): ModelSettings {
  const env = options.env ?? process.env;
  const text = (...names: string[]) => names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');
  return {
    apiKey: given(options.apiKey) ?? text('ANTHROPIC_API_KEY'),
    authToken: text('ANTHROPIC_AUTH_TOKEN'),
    baseURL: (given(options.baseURL) ?? text('SIXGATES_BASE_URL', 'ANTHROPIC_BASE_URL') ?? DEFAULT_BASE_URL).replace(/\/+$/, ''),
    model: given(options.model) ?? text('SIXGATES_MODEL', 'ANTHROPIC_MODEL') ?? DEFAULT_MODEL,
    maxTokens: options.maxTokens ?? count(text('SIXGATES_MAX_TOKENS', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS')) ?? DEFAULT_MAX_TOKENS,
    idleTimeoutMs: Math.min(MAX_TIMER_MS, count(text('CLAUDE_STREAM_IDLE_TIMEOUT_MS')) ?? 300_000),
    responseTimeoutMs: Math.min(MAX_TIMER_MS, count(text('API_TIMEOUT_MS')) ?? 600_000),
  };
}

function given(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

/** A positive whole number; anything else falls back to the default. */
function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : undefined;
}
