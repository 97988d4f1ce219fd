import type Anthropic from '@anthropic-ai/sdk';

/** The Messages API's own types, under the names this code base uses. */
export type MessageParam = Anthropic.MessageParam;
/** A block of a message that is sent: text, image, `tool_use`, `tool_result` … */
export type ContentBlockParam = Anthropic.ContentBlockParam;
/** The one answer to a `tool_use`. */
export type ToolResultBlockParam = Anthropic.ToolResultBlockParam;
/** A text that is sent. */
export type TextBlockParam = Anthropic.TextBlockParam;
/** An image that is sent. */
export type ImageBlockParam = Anthropic.ImageBlockParam;
/** A document that is sent. */
export type DocumentBlockParam = Anthropic.DocumentBlockParam;
/** Why the model stopped: `end_turn`, `tool_use`, `max_tokens` … */
export type StopReason = Anthropic.StopReason;
/** A block of a model's answer, complete (its `content_block_stop` has arrived). */
export type AssistantBlock = Anthropic.ContentBlock;
/** Tokens of one request, as the API counts them. */
export type Usage = Anthropic.Usage;

/** What a `tool_result` may hold. */
export type ToolResultContent = NonNullable<ToolResultBlockParam['content']>;
