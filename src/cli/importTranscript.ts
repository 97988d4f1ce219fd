import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { type ImportedSession, importClaudeTranscript, type SessionPlace } from '../session/stored.js';
import { CliError, messageOf } from './failure.js';
import { reasonOf } from './files.js';
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
      const imported = read(file, { store: place.dataDir, cwd: place.cwd });
      const report = describeImport(imported);
      if (json) process.stdout.write(`${JSON.stringify({ sessionId: imported.sessionId, transcript: imported.path, ...report })}\n`);
      else process.stdout.write(`${reportLines(imported.sessionId, report).map(visible).join('\n')}\n`);
    });
}

function read(file: string, place: SessionPlace): ImportedSession {
  const path = resolve(file);
  try {
    if (statSync(path).isDirectory()) throw new CliError(`${path} cannot be imported: it is a directory; name one of its *.jsonl files`);
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(`${path} cannot be imported: ${reasonOf(error)}.`);
  }
  try {
    return importClaudeTranscript(path, place);
  } catch (error) {
    const said = messageOf(error);
    throw new CliError(said.startsWith(path) ? said : `${path} cannot be imported: ${said}`);
  }
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

function describeImport({ messages, calls, results, openCalls, subagents, notes, problems }: ImportedSession): ImportReport {
  return {
    messages: messages.length,
    calls,
    results,
    openCalls: openCalls.map(({ id, name }) => `${name} (${id})`),
    subagents,
    notes: notes.map(({ text }) => text),
    problems,
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
