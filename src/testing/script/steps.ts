import type { JsonObject } from '../../json.js';

/**
 * What a scripted model does in one answer, step by step. Made with the constructors below (`text`, `toolUse`, …); a turn is an array of
 * them. `message_start`, the stop reason, `message_delta` and `message_stop` are added where the script does not set them itself.
 */
export type Step =
  | { readonly kind: 'text'; readonly text: string; readonly pieces: readonly string[]; readonly open: boolean }
  | { readonly kind: 'thinking'; readonly text: string; readonly signature: string; readonly open: boolean }
  | {
      readonly kind: 'toolUse';
      readonly name: string;
      readonly pieces: readonly string[];
      readonly id: string | undefined;
      readonly startInput: JsonObject;
      readonly open: boolean;
    }
  | { readonly kind: 'block'; readonly block: JsonObject }
  | { readonly kind: 'event'; readonly event: unknown }
  | { readonly kind: 'raw'; readonly text: string }
  | { readonly kind: 'recording'; readonly text: string }
  | { readonly kind: 'ping' }
  | { readonly kind: 'delay'; readonly ms: number }
  | Gate
  | { readonly kind: 'stop'; readonly reason: string; readonly details: JsonObject | undefined }
  | { readonly kind: 'usage'; readonly usage: JsonObject }
  | { readonly kind: 'message'; readonly id: string | undefined; readonly model: string | undefined }
  | {
      readonly kind: 'apiError';
      readonly status: number;
      readonly type: string;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly details: JsonObject | undefined;
    }
  | { readonly kind: 'errorEvent'; readonly type: string; readonly message: string }
  | { readonly kind: 'cutOff'; readonly how: 'reset' | 'end' };

/** One answer of the model. */
export type Turn = readonly Step[];

/** A point in the answer that waits until the test opens it; itself a step. */
export interface Gate {
  readonly kind: 'gate';
  /** Resolves when the answer has come to this point: everything before it has been sent. */
  readonly reached: Promise<void>;
  /** Lets the answer go on. May be called before the point is reached. */
  open(): void;
  /** For the player of the script. */
  readonly pass: () => Promise<void>;
}

/** How a block of a script ends. */
export interface BlockOptions {
  /** Leave the block open: no `content_block_stop` follows (max_tokens, or a stream that breaks). Default false. */
  readonly open?: boolean;
}

/** A text block. `pieces` cuts it into deltas at these places; default: one delta. */
export function text(content: string, options: BlockOptions & { readonly pieces?: readonly string[] } = {}): Step {
  return { kind: 'text', text: content, pieces: options.pieces ?? [content], open: options.open ?? false };
}

/** A thinking block with its signature. */
export function thinking(content: string, options: BlockOptions & { readonly signature?: string } = {}): Step {
  return { kind: 'thinking', text: content, signature: options.signature ?? 'c2NyaXB0ZWQ=', open: options.open ?? false };
}

/** Id and end of a scripted call. */
export interface ToolUseOptions extends BlockOptions {
  /** Default: `toolu_<turn>_<block>`, so that it can be foreseen: the second block of the first turn is `toolu_1_2`. */
  readonly id?: string;
}

/** A client tool call with valid JSON input, in one delta. */
export function toolUse(name: string, input: JsonObject = {}, options: ToolUseOptions = {}): Step {
  return rawToolUse(name, JSON.stringify(input), options);
}

/**
 * A client tool call whose input text is given as it is: valid, invalid, or empty as the API sends it for tools without arguments. An
 * array sends one delta each.
 */
export function rawToolUse(
  name: string,
  json: string | readonly string[],
  options: ToolUseOptions & { readonly startInput?: JsonObject } = {},
): Step {
  const pieces = typeof json === 'string' ? [json] : json;
  return { kind: 'toolUse', name, pieces, id: options.id, startInput: options.startInput ?? {}, open: options.open ?? false };
}

/** Any other block, complete in its start event: `server_tool_use`, `web_search_tool_result`, `fallback`, `redacted_thinking`. */
export function block(content: JsonObject): Step {
  return { kind: 'block', block: content };
}

/** One raw event of the stream, sent as it is. */
export function event(content: unknown): Step {
  return { kind: 'event', event: content };
}

/** Raw characters of the response body, sent as they are. */
export function raw(characters: string): Step {
  return { kind: 'raw', text: characters };
}

/**
 * A recorded response, played verbatim: server-sent events, or one JSON event a line. It stands in place of the whole answer, so nothing is
 * added before or after it.
 */
export function recording(fileText: string): Step {
  return { kind: 'recording', text: fileText };
}

/** A `ping` event. */
export function ping(): Step {
  return { kind: 'ping' };
}

/** Waits this many milliseconds, on the player's clock. */
export function delay(ms: number): Step {
  return { kind: 'delay', ms };
}

/** A gate: the answer stops here until `open()`; `reached` says that it has come so far. */
export function gate(): Gate {
  let open = (): void => {};
  let reach = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return {
    kind: 'gate',
    reached,
    open,
    pass: () => {
      reach();
      return opened;
    },
  };
}

/** The stop reason, where it is not the usual one (`tool_use` when the turn has a client call, else `end_turn`). */
export function stop(reason: string, details?: JsonObject): Step {
  return { kind: 'stop', reason, details };
}

/** Token counts of the answer, merged over the defaults. */
export function usage(counts: JsonObject): Step {
  return { kind: 'usage', usage: counts };
}

/** Another `message_start`, as a spliced or replayed stream has; as the first step it sets the id and model of the answer. */
export function message(options: { readonly id?: string; readonly model?: string } = {}): Step {
  return { kind: 'message', id: options.id, model: options.model };
}

/** An HTTP error in place of an answer; must be the only step besides delays and gates before it. */
export function apiError(
  status: number,
  type: string,
  options: { readonly message?: string; readonly headers?: Readonly<Record<string, string>>; readonly details?: JsonObject } = {},
): Step {
  return { kind: 'apiError', status, type, message: options.message ?? type, headers: options.headers ?? {}, details: options.details };
}

/** An `error` event in a stream that began with HTTP 200. Nothing follows it. */
export function errorEvent(type = 'overloaded_error', errorMessage = 'Overloaded'): Step {
  return { kind: 'errorEvent', type, message: errorMessage };
}

/** Ends the response before its time: `reset` breaks the connection, `end` closes it in good order but without `message_stop`. */
export function cutOff(how: 'reset' | 'end' = 'reset'): Step {
  return { kind: 'cutOff', how };
}
