import { dirname, join } from 'node:path';

/**
 * The file in which a session's SessionStart hooks may leave `export` lines, by the directory of its results. Shell commands read it before
 * they run (Claude Code docs, hooks: "Persist environment variables").
 */
export const envFileOf = (resultsDir: string): string => join(dirname(resultsDir), 'env.sh');
