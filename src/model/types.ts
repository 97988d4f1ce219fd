import type { Observable } from 'rxjs';
import type { JsonObject } from '../json.js';
import type { AssistantBlock, MessageParam, StopReason, Usage } from '../messages/types.js';
import type { ToolUseRequest } from '../tool/call.js';

/** One request to the model. Byte-stable in tools, system and prefix from turn to turn. */
export interface ModelRequest {
  /** `model:<session>:<query>:<turn>`. */
  readonly id: string;
  /** Model id. */
  readonly model: string;
  /** Output limit, in tokens. */
  readonly maxTokens: number;
  /** System prompt; undefined for none. */
  readonly system: string | undefined;
  /** Tool definitions in the Messages API's form, in the pool's order. */
  readonly tools: readonly JsonObject[];
  /** The history, the newest prompt or results last. */
  readonly messages: readonly MessageParam[];
  /** The Messages API's `thinking` parameter. */
  readonly thinking?: JsonObject;
  /** Values of the `anthropic-beta` header. */
  readonly betas?: readonly string[];
}

/** Text and thinking as it arrives. Goes round the machines, straight to the updates. */
export type ModelDelta =
  | { readonly type: 'text'; readonly index: number; readonly text: string }
  | { readonly type: 'thinking'; readonly index: number; readonly text: string }
  /** Raw JSON of a tool input, for previews only. */
  | { readonly type: 'input'; readonly index: number; readonly id: string; readonly partialJson: string };

/** How a stream ended. `broken` covers network errors, error events, and a stream without message_stop. */
export type StreamEnd =
  | {
      readonly kind: 'complete';
      readonly stopReason: StopReason | null;
      readonly stopDetails?: JsonObject;
      readonly usage?: Usage;
      readonly messageId: string;
      readonly model: string;
    }
  | { readonly kind: 'broken'; readonly error: ModelError; readonly usage?: Usage };

/** An error of the model port, in words a person can act on. */
export interface ModelError {
  /** The API's error type (`overloaded_error`, …), or `connection_error`, `missing_api_key`, `stream_incomplete`, `protocol_error`. */
  readonly type: string;
  /** What happened and what to do, in a sentence. */
  readonly message: string;
  /** HTTP status, where there was a response. */
  readonly status?: number;
  /** Whether asking again may help. Only used while nothing complete has arrived. */
  readonly retryable: boolean;
  /** From `retry-after`, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** What the turn machine hears of a stream: block by block, never delta by delta. */
export type ModelStreamEvent =
  | { readonly type: 'message.started'; readonly messageId: string; readonly model: string }
  /** A block whose content_block_stop has arrived. Client tool_use blocks come with their decided input. */
  | { readonly type: 'block.completed'; readonly index: number; readonly block: AssistantBlock; readonly toolUse?: ToolUseRequest }
  /** The blocks so far belong to an abandoned generation: none of them counts. */
  | { readonly type: 'message.discarded'; readonly reason: string }
  /** Something off in the stream that was set aside without harm to other blocks. */
  | { readonly type: 'stream.noted'; readonly note: string }
  | { readonly type: 'stream.ended'; readonly end: StreamEnd };

/** The port behind `streamModel`. Always completes with a `stream.ended`; never errors. Unsubscribing aborts the request. */
export interface ModelClient {
  /** Sends a request. `onDelta` hears text as it arrives, before the block it belongs to is complete. */
  stream(request: ModelRequest, onDelta: (delta: ModelDelta) => void): Observable<ModelStreamEvent>;
}
