import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultDataDir, safeId, toolResultsDir, transcriptPath } from '../messages/paths.js';
import { type ResumeState, resumeState } from '../messages/resume.js';
import { createMemoryTranscript, openTranscript, type Transcript } from '../messages/transcript.js';
import type { Lineage } from './lineage.js';
import type { SessionOptions } from './options.js';

export interface StorePlace {
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly lineage: Lineage | undefined;
}

export interface OpenStore {
  readonly transcript: Transcript;
  readonly resultsDir: string;
  /** What an earlier process of the session has left. */
  readonly resumed: ResumeState | undefined;
  /** Undefined for a session in memory. */
  readonly dataDir: string | undefined;
}

/** Opens the transcript of a session, and finds the place for outputs that are too large to be shown. */
export function openStore(options: SessionOptions, { cwd, sessionId, now, newId, env, lineage }: StorePlace): OpenStore {
  const common = { cwd, sessionId, now, ids: newId };
  const dataDir = options.store === false ? undefined : (options.store ?? defaultDataDir(env));
  if (lineage && options.transcript) return { transcript: options.transcript, resultsDir: lineage.resultsDir, resumed: undefined, dataDir };
  if (dataDir === undefined) {
    if (options.resume !== undefined && !options.transcript)
      throw new Error(`There is no session ${sessionId} to resume: with \`store: false\` nothing is kept.`);
    const resultsDir = join(tmpdir(), `sixgates-${safeId(sessionId, 'session')}`, 'tool-results');
    return { ...loaded(options.transcript ?? createMemoryTranscript(common)), resultsDir, dataDir };
  }
  const isKnown = options.transcript !== undefined || existsSync(transcriptPath(dataDir, cwd, sessionId));
  if (options.resume !== undefined && !isKnown)
    throw new Error(`There is no session ${sessionId} of ${cwd} under ${dataDir}. \`sixgates sessions\` lists what can be resumed.`);
  const opened = loaded(options.transcript ?? openTranscript({ ...common, dataDir }));
  return { ...opened, resultsDir: toolResultsDir(dataDir, cwd, sessionId), dataDir };
}

const loaded = (transcript: Transcript): Pick<OpenStore, 'transcript' | 'resumed'> => ({
  transcript,
  resumed: transcript.loaded ? resumeState(transcript.loaded) : undefined,
});
