import type { ExitCode } from './failure.js';

const SIGNALS: readonly (readonly [NodeJS.Signals, ExitCode])[] = [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
];

/**
 * Ctrl-C, as a signal or as a key: once interrupts what runs, twice leaves in good order, a third time ends the process at once.
 * SIGTERM, SIGHUP and an output that nobody reads any more leave as well.
 */
export class Interrupts {
  /** Resolves when the person wants to leave, with the exit code that says how. */
  readonly leaving: Promise<ExitCode>;
  private presses = 0;
  private resolve: (code: ExitCode) => void = () => {};
  private readonly onSigint = () => this.press();
  private readonly onSignal = new Map(SIGNALS.map(([signal, code]) => [signal, () => this.leave(code)] as const));
  private readonly onOutputError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') this.leave(1);
  };

  private interrupt: () => void = () => this.leave(130);

  constructor() {
    this.leaving = new Promise((resolve) => {
      this.resolve = resolve;
    });
    process.on('SIGINT', this.onSigint);
    for (const [signal, listener] of this.onSignal) process.on(signal, listener);
    process.stdout.on('error', this.onOutputError);
    process.stderr.on('error', this.onOutputError);
  }

  /** What the first Ctrl-C does; until this is said, it leaves. */
  whenPressed(interrupt: () => void): void {
    this.interrupt = interrupt;
  }
  press(): void {
    this.presses++;
    if (this.presses === 1) this.interrupt();
    else if (this.presses === 2) this.leave(130);
    else process.exit(130);
  }
  /** Something new runs: the next Ctrl-C is the first again. */
  reset(): void {
    this.presses = 0;
  }
  leave(code: ExitCode): void {
    this.resolve(code);
  }
  close(): void {
    process.off('SIGINT', this.onSigint);
    for (const [signal, listener] of this.onSignal) process.off(signal, listener);
  }
}
