import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { forkTranscript } from '../messages/fork.js';
import { type ImportedSession, importClaudeTranscript } from '../messages/sessions.js';
import { CliError, messageOf } from './failure.js';
import { visible } from './lines.js';
import { addPlaceOptions, placeOf } from './place.js';

const optionsSchema = z.object({ cwd: z.string().optional(), dataDir: z.string().optional(), json: z.boolean().default(false) });

/** Notes and problems printed one by one; of more, only the number is said. */
const SHOWN = 20;

/** `sixgates import`: a Claude Code transcript as a session of this directory. */
export function importCommand(): Command {
  const command = new Command('import')
    .description('make a session of a Claude Code transcript (*.jsonl); the file stays as it is')
    .argument('<file>', 'as in ~/.claude/projects/<project>/<session>.jsonl');
  return addPlaceOptions(command)
    .option('--json', 'print one JSON object')
    .action((file: string, raw: unknown) => {
      const { json, ...given } = optionsSchema.parse(raw);
      const place = placeOf(given);
      const imported = read(file);
      const sessionId = randomUUID();
      const transcript = forkTranscript(imported.loaded, { ...place, sessionId, ids: randomUUID, now: Date.now });
      transcript.close();
      const report = describeImport(imported);
      if (json) process.stdout.write(`${JSON.stringify({ sessionId, transcript: transcript.path, ...report })}\n`);
      else process.stdout.write(`${reportLines(sessionId, report).map(visible).join('\n')}\n`);
    });
}

function read(file: string): ImportedSession {
  const path = resolve(file);
  let imported: ImportedSession;
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a directory; name one of its *.jsonl files');
    imported = importClaudeTranscript(path);
  } catch (error) {
    throw new CliError(`${path} cannot be imported: ${messageOf(error)}`);
  }
  const { problems } = imported.loaded;
  if (imported.resume.messages.length > 0) return imported;
  const first = problems[0]?.text ?? (imported.sidechains.length > 0 ? "it holds subagents' conversations only" : 'it holds no messages');
  throw new CliError(`${path} cannot be imported: there is no conversation in it (${first}).`);
}

interface ImportReport {
  readonly messages: number;
  readonly calls: number;
  readonly results: number;
  /** Calls without a result. They are closed when the session is resumed; none is run again. */
  readonly openCalls: readonly string[];
  /** Subagents' conversations; they stay in the file. */
  readonly subagents: number;
  /** What of the conversation is not sent as it was, and why. */
  readonly notes: readonly string[];
  /** What of the file could not be read. */
  readonly problems: readonly string[];
}

function describeImport({ loaded, resume, sidechains, counts }: ImportedSession): ImportReport {
  return {
    messages: resume.messages.length,
    ...counts,
    openCalls: resume.openCalls.map(({ id, name }) => `${name} (${id})`),
    subagents: sidechains.length,
    notes: resume.notes.map(({ text }) => text),
    problems: loaded.problems.map(({ text }) => text),
  };
}

function reportLines(sessionId: string, report: ImportReport): string[] {
  const { messages, calls, results, openCalls, subagents, notes, problems } = report;
  return [
    `Session ${sessionId}: ${messages} messages, ${calls} tool calls, ${results} results.`,
    ...(openCalls.length > 0 ? [`Calls without a result, not run again: ${openCalls.join(', ')}.`] : []),
    ...(subagents > 0 ? [`Conversations of ${subagents} subagents stay in the file; their counts are included above.`] : []),
    ...listed('Not sent as it stands in the file:', notes),
    ...listed('Not read:', problems),
    `Go on with: sixgates run --resume ${sessionId}`,
  ];
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - SHOWN;
  return [title, ...items.slice(0, SHOWN).map((item) => `  ${item}`), ...(more > 0 ? [`  … and ${more} more (--json lists all)`] : [])];
}
