import type { JsonObject } from '../json.js';
import { headWithin } from '../results/text.js';
import { anyObjectInput, buildTool } from '../tool/build.js';
import type { AnyTool, ToolContext } from '../tool/types.js';
import { isRemote, type McpServerConfig } from './config.js';
import type { McpConnection } from './connection.js';
import { type McpToolOutput, mapMcpOutput, textOfOutput, toOutput } from './content.js';
import { MAX_DESCRIPTION_CHARS, MAX_RESULT_CHARS, type McpLimits } from './limits.js';
import type { McpToolInfo } from './listing.js';
import { mcpToolName } from './names.js';
import { outputCheck } from './output-check.js';
import { speakableProperties } from './property-names.js';

export interface McpToolOptions {
  readonly server: string;
  readonly config: McpServerConfig;
  readonly connection: McpConnection;
  readonly limits: McpLimits;
}

/**
 * A tool of a server as a tool of the session. What a server says of its tools is believed only where a lie harms nobody else: a
 * read-only hint lets calls overlap, and no rule is decided by it.
 */
export function mcpTool(info: McpToolInfo, { server, config, connection, limits }: McpToolOptions): AnyTool {
  const { annotations = {}, _meta = {} } = info;
  const name = mcpToolName({ server, tool: info.name });
  const isReadOnly = annotations.readOnlyHint === true;
  const title = info.title ?? annotations.title ?? info.name;
  const hint = _meta['anthropic/searchHint'];
  const check = outputCheck(info.outputSchema);
  const input = speakableProperties(info.inputSchema);
  return buildTool<JsonObject, McpToolOutput>({
    name,
    description: `${title} (${server})`,
    prompt: shortened(info.description ?? title),
    searchHint: typeof hint === 'string' ? hint : undefined,
    inputSchema: anyObjectInput,
    inputJSONSchema: input.schema,
    mcp: {
      server,
      tool: info.name,
      ...(config.alwaysLoad === true || _meta['anthropic/alwaysLoad'] === true ? { alwaysLoad: true } : {}),
    },
    isReadOnly: () => isReadOnly,
    isConcurrencySafe: () => isReadOnly,
    isDestructive: () => (isReadOnly ? false : annotations.destructiveHint),
    idempotent: isReadOnly || annotations.idempotentHint === true,
    requiresUserInteraction: () => _meta['anthropic/requiresUserInteraction'] === true,
    timeoutMs: config.timeout ?? limits.toolMs,
    idleTimeoutMs: config.type === 'sdk' ? undefined : isRemote(config) ? limits.idleMs.network : limits.idleMs.stdio,
    maxResultSizeChars: resultChars(_meta['anthropic/maxResultSizeChars'], limits.resultChars),
    userFacingName: () => `${server}: ${title}`,
    call: async (given, context: ToolContext, onProgress) => {
      const answer = await connection.call(info.name, input.restore(given), { signal: context.signal, onProgress });
      const output = await toOutput(answer, { dir: context.resultsDir, prefix: context.callId });
      const note = answer.isError === true ? undefined : check(answer.structuredContent);
      return { data: note === undefined ? output : { ...output, note } };
    },
    mapToolResultToToolResultBlockParam: mapMcpOutput,
    renderToolUseMessage: (given) => ({ title: `${server}: ${title}`, body: JSON.stringify(given, null, 2), format: 'json' }),
    renderToolResultMessage: (output) => ({ title: `${server}: ${title}`, body: textOfOutput(output), format: 'text' }),
  });
}

/** The server may ask for more room or less, within bounds. */
function resultChars(asked: unknown, standard: number): number {
  return typeof asked === 'number' && Number.isInteger(asked) && asked > 0 ? Math.min(asked, MAX_RESULT_CHARS) : standard;
}

/** A description within its limit, with a sign that it was longer. */
export const shortened = (text: string): string =>
  text.length <= MAX_DESCRIPTION_CHARS ? text : `${headWithin(text, MAX_DESCRIPTION_CHARS - 16)}… [truncated]`;
