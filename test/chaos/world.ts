import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { transcriptPath } from '../../src/messages/paths.js';

const schema = z.object({
  cwd: z.string(),
  store: z.string(),
  sessionId: z.string(),
  url: z.string(),
  /** Where side effects leave a line, by call id. */
  log: z.string(),
  compactAtTokens: z.number(),
  mcpServer: z.string().optional(),
  finish: z.boolean(),
});
export type World = z.infer<typeof schema>;

export function readWorld(file: string | undefined): World {
  if (file === undefined) throw new Error('usage: child.ts <world.json>');
  return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

export const transcriptOf = ({ store, cwd, sessionId }: Pick<World, 'store' | 'cwd' | 'sessionId'>): string =>
  transcriptPath(store, cwd, sessionId);
