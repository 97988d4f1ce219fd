import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { PermissionAnswer } from '../permissions/types.js';
import type { PermissionPrompt } from '../session/questions.js';
import type { Session } from '../session/session.js';
import type { TerminalAsker } from './ask.js';
import { driveSession, exitCodeOf } from './drive.js';
import { type ExitCode, messageOf } from './failure.js';
import { PromptHistory } from './history.js';
import type { Interrupts } from './interrupts.js';
import { clip, visible } from './lines.js';
import { createProgressView } from './progress.js';
import type { Prompter } from './prompter.js';
import type { RunOptions, SessionOpener } from './runOptions.js';
import type { Screen } from './screen.js';
import { isSlashCommand, runSlashCommand, type Talk } from './slashCommands.js';
import { isInspected, type Watching, watchSession } from './watching.js';

export interface ConversationParts {
  readonly opener: SessionOpener;
  readonly session: Session;
  readonly options: RunOptions;
  readonly screen: Screen;
  readonly prompter: Prompter;
  readonly interrupts: Interrupts;
  readonly asker: TerminalAsker | undefined;
  readonly yesTo: (prompt: PermissionPrompt) => PermissionAnswer | undefined;
}

/** Where the status line stands among the footers: below the input line. */
const STATUS_POSITION = 20;
const PROMPT = '› ';

/** Prompt after prompt: typed at a terminal, where a line typed while a query runs waits its turn, or read line by line. */
export class Conversation implements Talk {
  session: Session;
  private letGo: () => void = () => {};
  private watching: Watching | undefined;
  private code: ExitCode = 0;

  constructor(private readonly parts: ConversationParts) {
    this.session = parts.session;
    parts.interrupts.whenPressed(() => this.onFirstInterrupt());
  }

  get screen(): Screen {
    return this.parts.screen;
  }
  get place() {
    return this.parts.opener.place;
  }
  get isBusy(): boolean {
    return !this.session.actor.getSnapshot().matches({ conversation: 'idle' });
  }

  async atTerminal(): Promise<ExitCode> {
    const { prompter, interrupts, screen, options } = this.parts;
    const history = PromptHistory.of(this.place.dataDir, this.place.cwd);
    try {
      await this.attach();
      screen.print(screen.paint('gray', 'Type what you want done. /help lists commands; Ctrl-C interrupts, twice leaves; Ctrl-D leaves.'));
      const removeStatus = screen.addFooter(STATUS_POSITION, (width) => [screen.paint('gray', clip(this.status(), width))]);
      const line = prompter.open({
        prompt: PROMPT,
        history: history.lines,
        onLine: (text) => {
          interrupts.reset();
          if (text.trim() === '') return;
          history.add(text);
          line.setHistory(history.lines);
          screen.print(`${screen.paint('cyan', PROMPT)}${visible(text).replaceAll('\n', '\n  ')}`);
          if (isSlashCommand(text)) void this.command(text);
          else this.say(text);
        },
        onInterrupt: (typed) => {
          if (typed === '') interrupts.press();
        },
        onEscape: () => {
          if (this.isBusy) void this.session.interrupt();
        },
        onEnd: () => interrupts.leave(0),
      });
      const code = await interrupts.leaving;
      line.close();
      removeStatus();
      return code;
    } finally {
      await this.detach(options.json);
    }
  }

  /** Every line is a prompt or a command; the next is read when it has been answered. Answers go to standard output. */
  async fromLines(input: Readable): Promise<ExitCode> {
    const { interrupts, options } = this.parts;
    const left = interrupts.leaving.then((code) => ({ code }));
    const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
    try {
      await this.attach();
      for (;;) {
        const next = await Promise.race([lines.next(), left]);
        if ('code' in next) return next.code;
        if (next.done === true) return this.code;
        const text = next.value;
        if (text.trim() === '') continue;
        const step = isSlashCommand(text) ? this.command(text) : this.answer(text);
        const ended = await Promise.race([step.then(() => undefined), left]);
        if (ended) return ended.code;
      }
    } finally {
      input.destroy();
      await this.detach(options.json);
    }
  }

  leave(): void {
    this.parts.interrupts.leave(this.parts.asker ? 0 : this.code);
  }

  async switchTo(change: { readonly resume?: string; readonly model?: string }): Promise<void> {
    const before = this.session.id;
    await this.session.close();
    await this.letGoOf();
    try {
      this.session = this.parts.opener.open({ resume: before, ...change });
    } catch (error) {
      this.screen.print(this.screen.paint('red', messageOf(error)));
      this.session = this.parts.opener.open({ resume: before });
    }
    await this.attach();
  }

  async inspect(): Promise<string> {
    const { url } = this.watching ?? {};
    if (url !== undefined) return url;
    await this.watching?.close();
    this.watching = await watchSession(this.session, { ...this.parts.options, inspect: true }, () => {}, this.parts.opener.copy);
    return this.watching.url ?? '';
  }

  private say(text: string): void {
    if (this.isBusy) this.screen.print(this.screen.paint('gray', '  (waits, and goes to the model with its next results)'));
    void this.session.send(text).done.then(
      (ended) => {
        this.code = exitCodeOf(ended);
      },
      () => {
        // The session was closed: the person left, or went on with another one.
      },
    );
  }

  private async answer(text: string): Promise<void> {
    const ended = await this.session.send(text).done;
    this.code = exitCodeOf(ended);
    if (!this.parts.options.json && ended.text !== '') process.stdout.write(`${ended.text.trimEnd()}\n`);
  }

  private async command(text: string): Promise<void> {
    try {
      await runSlashCommand(text, this);
    } catch (error) {
      this.screen.print(this.screen.paint('red', messageOf(error)));
    }
  }

  private onFirstInterrupt(): void {
    if (!this.isBusy) {
      this.screen.print(this.screen.paint('gray', 'Ctrl-C again leaves.'));
      return;
    }
    this.screen.print('Interrupting … (Ctrl-C again leaves)');
    void this.session.interrupt();
  }

  private async attach(): Promise<void> {
    const { opener, options, screen, asker, yesTo, interrupts } = this.parts;
    const view = options.json ? undefined : createProgressView(screen, { withholdAnswer: !screen.isLive });
    const onQuery = () => interrupts.reset();
    this.letGo = driveSession(this.session, { view, screen, asker, canPageAnswer: isInspected(options), yesTo, onQuery });
    this.watching = await watchSession(this.session, options, (line) => screen.print(line), opener.copy);
  }

  private async detach(json: boolean): Promise<void> {
    await this.session.close();
    await this.letGoOf();
    if (!json && this.session.transcriptPath !== null) this.screen.print(`Transcript:  ${this.session.transcriptPath}`);
  }

  private async letGoOf(): Promise<void> {
    this.letGo();
    await this.watching?.close().catch((error: unknown) => this.screen.print(messageOf(error)));
    this.watching = undefined;
  }

  private status(): string {
    const { usage, mode, tasks } = this.session;
    const running = tasks.filter(({ status }) => status === 'running').length;
    const parts = [
      this.model,
      mode,
      `${usage.inputTokens + usage.outputTokens} tokens`,
      ...(running > 0 ? [`${running} in the background`] : []),
    ];
    return `  ${parts.join(' · ')}`;
  }

  get model(): string {
    return this.session.model;
  }
}
