import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { z } from 'zod';
import type { FlowRecording } from '../inspect/index.js';
import type { ExportKind } from '../inspect/protocol/rpc.js';
import { CliError, messageOf } from './failure.js';
import { reasonOf } from './files.js';
import { flowReport, sourceLines } from './flowReport.js';
import { Interrupts } from './interrupts.js';
import { visible } from './lines.js';
import { portOf } from './watching.js';

const optionsSchema = z.object({
  port: z.number().optional(),
  open: z.boolean(),
  json: z.boolean().default(false),
  output: z.string().optional(),
  actor: z.string().optional(),
  runner: z.enum(['node', 'vitest']).optional(),
});
/** Of what a test is made, and for which runner. */
type TestOptions = Partial<Pick<z.infer<typeof optionsSchema>, 'actor' | 'runner'>>;

/** Warnings printed one by one; of more, only the number is said. */
const SHOWN = 20;

/** What `--output` writes, by the end of the file's name. */
const FORMATS: readonly { readonly ending: string; readonly kind: ExportKind }[] = [
  { ending: '.flow.jsonl.gz', kind: 'recording' },
  { ending: '.html', kind: 'html' },
  { ending: '.trace.json', kind: 'chromeTrace' },
  { ending: '.test.mjs', kind: 'nodeTest' },
];

/** `sixgates inspect`: a recorded flow, or a Claude Code transcript, in the inspector page. */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('open a recorded flow (*.flow.jsonl.gz) or a Claude Code transcript (*.jsonl) in the inspector page')
    .argument('<file>', 'a recording, as `--record` writes it, or a transcript, as in ~/.claude/projects/<project>/<session>.jsonl')
    .addOption(new Option('--port <port>', 'port of the page (default: a free one)').argParser(portOf))
    .option('--no-open', 'print the address of the page without opening it')
    .option('--json', 'print the flow and its calls as one JSON object, and serve no page')
    .option('-o, --output <file>', `write an export instead: ${FORMATS.map(({ ending }) => `*${ending}`).join(', ')}`)
    .option('--actor <path>', 'with *.test.mjs: the machine whose events the test folds, or the id of a call (default: the first query)')
    .addOption(new Option('--runner <runner>', 'with *.test.mjs: who runs the test (default: node)').choices(['node', 'vitest']))
    .addHelpText(
      'after',
      `
Of a transcript the page shows every call with its result, the turns and subagents, and the lines they stand on. What a transcript
does not record (gates, hooks, rules, who was asked) is shown as unknown. Subagents' own files beside it are read with it.`,
    )
    .action(async (file: string, raw: unknown) => {
      const { json, output, actor, runner, ...page } = optionsSchema.parse(raw);
      if (json && output !== undefined) throw new CliError('Give either --json or --output, not both.');
      if ((actor ?? runner) !== undefined && output?.endsWith('.test.mjs') !== true)
        throw new CliError('--actor and --runner speak of a test, so they need --output *.test.mjs.');
      if (json) process.stdout.write(`${JSON.stringify(flowReport(await read(file)))}\n`);
      else if (output !== undefined) await writeExport(await read(file), output, { actor, runner });
      else await showPage(file, page);
    });
}

async function read(file: string): Promise<FlowRecording> {
  const { readFlow } = await import('../inspect/index.js');
  try {
    return readFlow(file);
  } catch (error) {
    throw new CliError(messageOf(error));
  }
}

async function writeExport(recording: FlowRecording, output: string, test: TestOptions): Promise<void> {
  const format = FORMATS.find(({ ending }) => output.endsWith(ending));
  const path = resolve(output);
  if (!format) {
    throw new CliError(`${path} was not written: its name must end in ${FORMATS.map(({ ending }) => ending).join(', ')}.`);
  }
  tellWarnings(recording);
  const bytes = await exported(recording, format.kind, test).catch((error: unknown) => {
    throw new CliError(`${path} was not written: ${messageOf(error)}`);
  });
  try {
    // Recordings hold what tools printed: they are for their owner alone.
    await writeFile(path, bytes, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new CliError(`${path} was not written: ${reasonOf(error)}.`);
  }
  process.stderr.write(`Written:     ${visible(path)}\n`);
}

async function exported(recording: FlowRecording, kind: ExportKind, { actor, runner }: TestOptions): Promise<Buffer> {
  if (kind !== 'nodeTest') {
    const { exportFlow } = await import('../inspect/exports/exportFlow.js');
    return exportFlow(recording, kind);
  }
  const { buildExport } = await import('../inspect/exports/buildExport.js');
  const { Redactor } = await import('../inspect/redact.js');
  const request = { kind: runner === 'vitest' ? runner : kind, ...(actor === undefined ? {} : { actor: machineNamed(actor, recording) }) };
  const made = buildExport(recording, request, { redactor: new Redactor(), page: () => new Map() });
  if ('code' in made) throw new Error(made.message);
  return Buffer.from(made.text, made.encoding);
}

/** The machine of which a test is asked for, by its path or by the id of its call. */
function machineNamed(wanted: string, { events, header }: FlowRecording): string {
  // What can be said of a transcript is said by the export.
  if (header.source) return wanted;
  const started = events.filter((event) => event.type === 'actor.started').filter(({ machine }) => machine !== null);
  const found = started.find(({ actor, toolUseId }) => actor === wanted || toolUseId === wanted);
  if (found?.late === true) throw new Error(`${wanted} had begun before it was recorded; choose a machine below it.`);
  if (found) return found.actor;
  throw new Error(`there is no machine ${wanted} in it; \`sixgates inspect --json\` lists the calls with their ids and actors.`);
}

async function showPage(file: string, { port, open }: { readonly port?: number | undefined; readonly open: boolean }): Promise<void> {
  const { openRecording } = await import('../inspect/index.js');
  const opened = await openRecording(file, { open, ...(port === undefined ? {} : { port }) }).catch((error: unknown) => {
    throw new CliError(messageOf(error));
  });
  const { header, events } = opened.recording;
  tellWarnings(opened.recording);
  process.stdout.write(`Inspector:   ${opened.url}\n`);
  for (const line of header.source ? sourceLines(header.source) : []) process.stderr.write(`${visible(line)}\n`);
  process.stderr.write(`${visible(header.name ?? file)}: ${events.length} events. Ctrl-C ends.\n`);
  const interrupts = new Interrupts();
  // The server alone does not keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  await interrupts.leaving;
  clearInterval(alive);
  await opened.close();
  interrupts.close();
}

function tellWarnings({ warnings }: FlowRecording): void {
  for (const warning of warnings.slice(0, SHOWN)) process.stderr.write(`warning: ${visible(warning)}\n`);
  const more = warnings.length - SHOWN;
  if (more > 0) process.stderr.write(`warning: … and ${more} more (--json lists all)\n`);
}
