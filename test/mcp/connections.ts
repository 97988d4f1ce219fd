import { McpConnection } from '../../src/mcp/connection.js';
import { mcpLimits } from '../../src/mcp/limits.js';
import type { Clock } from '../../src/model/clock.js';
import { FakeClock } from '../support/fakeClock.js';
import type { ScriptedMcpServer } from './support.js';

/** A connection to a scripted server, with what it said on the way. */
export function connectionTo(server: ScriptedMcpServer, { clock = new FakeClock() }: { readonly clock?: Clock } = {}) {
  const notices: string[] = [];
  const states: string[] = [];
  const connection: McpConnection = new McpConnection({
    name: 'scripted',
    config: server.config,
    place: { cwd: '/', env: {} },
    limits: mcpLimits({}),
    clock,
    onChange: () => states.push(connection.state.status),
    onNotice: (message) => notices.push(message),
  });
  return { connection, notices, states };
}
