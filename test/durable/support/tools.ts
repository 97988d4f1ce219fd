import { z } from 'zod';
import { buildTool } from '../../../src/tool/index.js';
import type { AnyTool, ToolContext } from '../../../src/tool/types.js';

const input = z.strictObject({ n: z.number(), ms: z.number() });

/** Tools whose side effects happen in another process, which counts them. */
export function worldTools(world: string): readonly AnyTool[] {
  const call = async ({ n, ms }: z.infer<typeof input>, context: ToolContext) => {
    const tell = (what: 'begin' | 'end') =>
      fetch(`${world}/effect`, {
        method: 'POST',
        body: JSON.stringify({ what, sessionId: context.sessionId, callId: context.callId }),
        signal: context.signal,
      });
    await tell('begin');
    await new Promise((resolve) => setTimeout(resolve, ms));
    await tell('end');
    return { data: `did ${n}` };
  };
  const common = { description: 'Does something in the world.', inputSchema: input, call };
  return [
    buildTool({ ...common, name: 'Look', isReadOnly: () => true, isConcurrencySafe: () => true, idempotent: true }),
    buildTool({ ...common, name: 'Ring', isConcurrencySafe: () => true }),
    buildTool({ ...common, name: 'Write' }),
    buildTool({ ...common, name: 'Deploy' }),
  ];
}

/** Look, Ring and Write need no question; Deploy does. */
export const WORLD_RULES = { allow: ['Look', 'Ring', 'Write'] };
