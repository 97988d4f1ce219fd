import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

const MAX_SLUG = 200;
const SAFE_ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * The directory name that stands for a working directory: every character that is not alphanumeric becomes `-`; longer than 200
 * characters is cut and gets a hash of the whole. Same rule as Claude Code, so that either finds the other's sessions.
 */
export function cwdSlug(cwd: string): string {
  const slug = cwd.replace(/[^a-zA-Z0-9]/g, '-');
  return slug.length <= MAX_SLUG ? slug : `${slug.slice(0, MAX_SLUG)}-${hash(cwd)}`;
}

function hash(text: string): string {
  let value = 0;
  for (let index = 0; index < text.length; index++) value = (Math.imul(value, 31) + text.charCodeAt(index)) | 0;
  return Math.abs(value).toString(36);
}

/** Where Sixgates keeps its sessions: `SIXGATES_DATA_DIR`, else `~/.sixgates`. */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env.SIXGATES_DATA_DIR ? resolve(env.SIXGATES_DATA_DIR) : join(homedir(), '.sixgates');
}

/** The directory of a working directory's sessions. */
export function projectDir(dataDir: string, cwd: string): string {
  return join(dataDir, 'projects', cwdSlug(cwd));
}

/** A session's transcript file, or that of one of its subagents. Refuses ids that would leave the directory. */
export function transcriptPath(dataDir: string, cwd: string, sessionId: string, agentId?: string): string {
  const session = join(projectDir(dataDir, cwd), safeId(sessionId, 'session'));
  return agentId === undefined ? `${session}.jsonl` : join(session, 'subagents', `agent-${safeId(agentId, 'agent')}.jsonl`);
}

/** The id itself; throws for one that cannot name files. */
export function safeId(id: string, kind: 'session' | 'agent'): string {
  if (SAFE_ID.test(id)) return id;
  throw new Error(`"${id}" is no ${kind} id: use letters, digits, "-" and "_", at most 128 characters.`);
}

/** Where a session's spilled outputs go, beside its transcript. */
export function toolResultsDir(dataDir: string, cwd: string, sessionId: string): string {
  return join(projectDir(dataDir, cwd), safeId(sessionId, 'session'), 'tool-results');
}
