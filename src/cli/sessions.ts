import { Command } from 'commander';
import { z } from 'zod';
import type { SessionSummary } from '../messages/sessions.js';
import { cut, oneLine } from './lines.js';
import { addPlaceOptions, placeOf, sessionsOf } from './place.js';

const optionsSchema = z.object({
  cwd: z.string().optional(),
  dataDir: z.string().optional(),
  all: z.boolean().default(false),
  json: z.boolean().default(false),
});

/** `sixgates sessions`: what can be resumed. */
export function sessionsCommand(): Command {
  const command = new Command('sessions').description('list the sessions of this directory, newest first');
  return addPlaceOptions(command)
    .option('--all', 'the sessions of all directories')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', '\n`sixgates run --resume <id>` goes on with one; the beginning of its id is enough.')
    .action((raw: unknown) => {
      const { all, json, ...given } = optionsSchema.parse(raw);
      const place = placeOf(given);
      const sessions = sessionsOf(place, all);
      if (json) for (const session of sessions) process.stdout.write(`${JSON.stringify(session)}\n`);
      else if (sessions.length > 0)
        process.stdout.write(`${sessionLines(sessions, Date.now(), process.stdout.columns ?? 200, undefined, all).join('\n')}\n`);
      else process.stderr.write(`There are no sessions of ${all ? 'any directory' : place.cwd} under ${place.dataDir}.\n`);
    });
}

/** One line a session: id, age, and how it began. `current` is marked. */
export function sessionLines(
  sessions: readonly SessionSummary[],
  now: number,
  width: number,
  current?: string,
  withDirectory = false,
): readonly string[] {
  return sessions.map(({ sessionId, modifiedMs, firstPrompt, cwd }) => {
    const age = now - modifiedMs < 60_000 ? 'now' : `${ago(now - modifiedMs)} ago`;
    const directory = withDirectory ? [cwd ?? '(unknown directory)'] : [];
    const parts = [sessionId, age.padStart(AGE_WIDTH), ...directory, oneLine(firstPrompt ?? '(no prompt)')];
    return cut(`${sessionId === current ? '*' : ' '} ${parts.join('  ')}`, width);
  });
}
const AGE_WIDTH = '59 min ago'.length;

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} days`;
}
