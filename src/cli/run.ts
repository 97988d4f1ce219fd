import { homedir } from 'node:os';
import { text as readAll } from 'node:stream/consumers';
import { Command } from 'commander';
import { createYesTo, TerminalAsker } from './ask.js';
import { Conversation } from './conversation.js';
import { driveSession } from './drive.js';
import { CliError, EXIT_CODES, type ExitCode, messageOf } from './failure.js';
import { Interrupts } from './interrupts.js';
import { answerOnce } from './oneShot.js';
import { createProgressView } from './progress.js';
import { Prompter } from './prompter.js';
import { addRunOptions, parseRunOptions, type RunOptions, sessionOpener } from './runOptions.js';
import { createScreen } from './screen.js';
import { gateMaker, isInspected, watchSession } from './watching.js';

/** `sixgates run`: a real session on the current directory; with a prompt one-shot, without one a conversation. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('give a model a prompt and let it work with tools, each call through the six gates')
    .argument('[prompt]', 'what to do; "-" reads it from standard input; without it, a conversation begins');
  return addRunOptions(command)
    .addHelpText('after', HELP)
    .action(async (prompt: string | undefined, raw: unknown) => {
      process.exitCode = await run(prompt, parseRunOptions(raw));
    });
}

const HELP = `
The key comes from ANTHROPIC_API_KEY. Questions are put on the terminal; where there is none, what would ask is denied,
unless --yes-to covers it. The answer goes to standard output, everything else to standard error.
Ctrl-C interrupts the turn; twice leaves. In a conversation, /help lists the commands.
${EXIT_CODES}

Examples:
  sixgates run "find the failing test and mend it"
  sixgates run --yes-to 'Bash(npm test *)' --yes-to 'Edit(/src/**)' "make the tests pass" < /dev/null
  sixgates run --json "list the open TODOs" | jq -c 'select(.type == "call.state")'
  sixgates run --continue --inspect`;

async function run(given: string | undefined, options: RunOptions): Promise<ExitCode> {
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true && !options.json;
  if (given === '-' && process.stdin.isTTY)
    throw new CliError('"-" reads the prompt from standard input, which is a terminal here. Pipe something in, or give the prompt.');
  const prompt = given === '-' ? await readAll(process.stdin) : given;
  if (prompt?.trim() === '') throw new CliError('The prompt is empty.');
  const opener = sessionOpener(options, isTerminal || isInspected(options) || options.yesTo.length > 0, await gateMaker(options));
  const yesTo = createYesTo(options.yesTo, opener.place.cwd, homedir());

  const screen = createScreen(process.stderr);
  const prompter = new Prompter(process.stdin, process.stderr, screen);
  const interrupts = new Interrupts();
  const asker = isTerminal ? new TerminalAsker(prompter, screen, () => interrupts.press()) : undefined;
  const tell = (line: string) => screen.print(line);
  try {
    if (options.restate !== undefined) {
      const { runRemote } = await import('./remote.js');
      const view = options.json ? undefined : createProgressView(screen, { withholdAnswer: !screen.isLive });
      const drive = { view, screen, asker, canPageAnswer: isInspected(options), yesTo };
      return await runRemote({ ingress: options.restate, sessionId: options.resume, prompt, watch: options, drive, interrupts, tell });
    }
    const session = opener.open();
    interrupts.whenPressed(() => {
      screen.print('Interrupting … (Ctrl-C again leaves)');
      void session.interrupt();
    });
    if (prompt === undefined) {
      const conversation = new Conversation({ opener, session, options, screen, prompter, interrupts, asker, yesTo });
      return await (isTerminal ? conversation.atTerminal() : conversation.fromLines(process.stdin));
    }
    // An answer that both streams show on one terminal would be there twice.
    const isShown = process.stdout.isTTY === true && process.stderr.isTTY === true;
    const view = options.json ? undefined : createProgressView(screen, { withholdAnswer: !screen.isLive });
    const letGo = driveSession(session, {
      view,
      screen,
      asker,
      canPageAnswer: isInspected(options),
      yesTo,
      onQuery: () => interrupts.reset(),
    });
    const watching = await watchSession(session, options, tell, opener.copy);
    let code: ExitCode = 1;
    try {
      const answer = await answerOnce(session, prompt, interrupts.leaving);
      code = answer.code;
      if (!options.json && !isShown && answer.text !== '') process.stdout.write(`${answer.text.trimEnd()}\n`);
    } finally {
      await session.close();
      letGo();
      if (!options.json && session.transcriptPath !== null) tell(`Transcript:  ${session.transcriptPath}`);
      if (watching.url !== undefined && isTerminal && code !== 130) {
        tell('The inspector stays open. Ctrl-C ends.');
        interrupts.reset();
        interrupts.whenPressed(() => interrupts.leave(code));
        await interrupts.leaving;
      }
      await watching.close().catch((error: unknown) => {
        tell(messageOf(error));
        code = code === 0 ? 1 : code;
      });
    }
    return code;
  } finally {
    prompter.close();
    screen.close();
    interrupts.close();
  }
}
