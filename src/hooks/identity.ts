import { commandText, type HookHandler } from './config-types.js';

/** How people call a handler. */
export function handlerName(handler: HookHandler): string {
  switch (handler.type) {
    case 'command':
      return shorten(commandText(handler));
    case 'http':
      return handler.url;
    case 'mcp_tool':
      return `${handler.server}.${handler.tool}`;
    case 'prompt':
      return shorten(handler.prompt);
    case 'function':
      return handler.callback.name || 'callback';
  }
}

const NAME_CHARS = 80;
function shorten(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length <= NAME_CHARS ? line : `${line.slice(0, NAME_CHARS - 1)}…`;
}

/** What makes two declarations the same handler: what would run and on what condition, not how long it may take. */
export function identityOf(handler: Exclude<HookHandler, { readonly type: 'function' }>): string {
  switch (handler.type) {
    case 'command':
      return JSON.stringify(['command', handler.command, handler.args ?? null, handler.shell ?? 'bash', handler.if ?? null]);
    case 'http':
      return JSON.stringify(['http', handler.url, handler.headers ?? null, handler.if ?? null]);
    case 'mcp_tool':
      return JSON.stringify(['mcp_tool', handler.server, handler.tool, handler.input ?? null, handler.if ?? null]);
    case 'prompt':
      return JSON.stringify(['prompt', handler.prompt, handler.model ?? null, handler.if ?? null]);
  }
}
