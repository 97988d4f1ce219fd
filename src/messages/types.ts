import type Anthropic from '@anthropic-ai/sdk';

/** The Messages API's own types, under the names this code base uses. */
export type MessageParam = Anthropic.MessageParam;
export type ContentBlockParam = Anthropic.ContentBlockParam;
export type ToolResultBlockParam = Anthropic.ToolResultBlockParam;
export type TextBlockParam = Anthropic.TextBlockParam;
export type ImageBlockParam = Anthropic.ImageBlockParam;
export type DocumentBlockParam = Anthropic.DocumentBlockParam;
export type StopReason = Anthropic.StopReason;
/** A block of a model's answer, complete (its `content_block_stop` has arrived). */
export type AssistantBlock = Anthropic.ContentBlock;
export type Usage = Anthropic.Usage;

/** What a `tool_result` may hold. */
export type ToolResultContent = NonNullable<ToolResultBlockParam['content']>;
