import { Command, Option } from 'commander';
import { z } from 'zod';
import { CliError, messageOf } from './failure.js';
import { Interrupts } from './interrupts.js';
import { visible } from './lines.js';
import { portOf } from './watching.js';

const optionsSchema = z.object({ port: z.number().optional(), open: z.boolean() });

/** `sixgates inspect`: a recorded flow in the inspector page. */
export function inspectCommand(): Command {
  return new Command('inspect')
    .description('open a recorded flow (*.flow.jsonl.gz) in the inspector page')
    .argument('<file>', 'a recording, as `--record` writes it')
    .addOption(new Option('--port <port>', 'port of the page (default: a free one)').argParser(portOf))
    .option('--no-open', 'print the address of the page without opening it')
    .action(async (file: string, raw: unknown) => {
      const { port, open } = optionsSchema.parse(raw);
      const { openRecording } = await import('../inspect/index.js');
      const opened = await openRecording(file, { open, ...(port === undefined ? {} : { port }) }).catch((error: unknown) => {
        throw new CliError(messageOf(error));
      });
      const { header, events, warnings } = opened.recording;
      for (const warning of warnings) process.stderr.write(`warning: ${visible(warning)}\n`);
      process.stdout.write(`Inspector:   ${opened.url}\n`);
      process.stderr.write(`${visible(header.name ?? file)}: ${events.length} events. Ctrl-C ends.\n`);
      const interrupts = new Interrupts();
      // The server alone does not keep the process alive.
      const alive = setInterval(() => {}, 60_000);
      await interrupts.leaving;
      clearInterval(alive);
      await opened.close();
      interrupts.close();
    });
}
