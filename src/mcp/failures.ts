import { SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { headWithin } from '../results/text.js';
import { messageOf, ToolFailure } from '../tool/errors.js';
import { StdioTransport } from './stdio.js';

/** Why something with a server failed, in words of ours where the SDK's own say too little. */
export function reasonOf(error: unknown): string {
  if (error instanceof StreamableHTTPError) {
    const text = error.message.replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, '');
    const advice = error.code === 401 || error.code === 403 ? '; put what it wants to see into `headers`' : '';
    return `it answered with HTTP ${error.code ?? 'error'}: ${text}${advice}`;
  }
  if (error instanceof z.core.$ZodError) return `its answer does not have the form that the protocol demands (${z.prettifyError(error)})`;
  // The SDK's messages begin with their own code.
  const words = messageOf(error).replace(/^MCP error (-?\d+): ?/, '');
  if (!(error instanceof McpError)) {
    const cause = error instanceof Error && error.cause instanceof Error ? messageOf(error.cause) : '';
    return words.includes(cause) ? words : `${words} (${cause})`;
  }
  return `${words.trim() === '' ? `error ${error.code}` : words}${dataOf(error)}`;
}

const MAX_DATA_CHARS = 1_000;

/** What a server adds to its error: often the only part that says which argument was wrong. */
function dataOf({ data }: McpError): string {
  if (data === undefined || data === null) return '';
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return text === '' || text === '{}' ? '' : ` (${headWithin(text, MAX_DATA_CHARS)})`;
}

/** The SDK's own word for a connection that ended. Its code alone proves nothing: servers use it for errors of theirs. */
const isClosing = (error: unknown): boolean =>
  error instanceof McpError && error.code === ErrorCode.ConnectionClosed && /^MCP error -?\d+: Connection closed$/.test(error.message);

/** A reason with the last words of a server that is a process. */
export const withLastWords = (what: string, transport: Transport): string =>
  [what, transport instanceof StdioTransport ? transport.lastWords : ''].filter(Boolean).join('; ');

/** The connection is gone: the network failed, or the server has forgotten the session. Other errors are answers. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof StreamableHTTPError) return error.code === 404;
  return error instanceof TypeError || error instanceof SseError;
}

/** What the model is told of a call that failed on the way. Where the call may have taken effect, that is said. */
export function callFailure(server: string, error: unknown, transport: Transport): ToolFailure {
  const unknown = 'Whether the call took effect is not known; it was not repeated.';
  if (isClosing(error)) return new ToolFailure(`The MCP server ${server} ${withLastWords('closed the connection', transport)}. ${unknown}`);
  if (isConnectionLoss(error)) return new ToolFailure(`The MCP server ${server} could not be reached: ${reasonOf(error)}. ${unknown}`);
  if (error instanceof StreamableHTTPError && (error.code ?? 500) >= 500)
    return new ToolFailure(`The call of MCP server ${server} failed: ${reasonOf(error)}. ${unknown}`);
  return new ToolFailure(`The call of MCP server ${server} failed: ${reasonOf(error)}`);
}
