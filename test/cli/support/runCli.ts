import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import stripAnsi from 'strip-ansi';
import { builtCli } from '../../support/builtSources.js';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const main = await builtCli();

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Behind a pseudo-terminal, as `script` of util-linux makes one. */
  readonly terminal?: boolean;
  /** Standard input stays open for `type`. Default false: it is empty. */
  readonly input?: boolean;
}
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as a process of its own, from the sources. */
export class Cli {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly waiting = new Set<() => void>();

  constructor(args: readonly string[], { env = {}, terminal = false, input = terminal }: CliOptions = {}) {
    const node = [process.execPath, main, ...args];
    const [command = '', ...rest] = terminal ? ['script', '-qefc', node.map(quoted).join(' '), '/dev/null'] : node;
    this.child = spawn(command, rest, { cwd: repository, env: { ...bareEnvironment(), ...env } });
    this.child.stdout.on('data', (chunk: Buffer) => this.hear('stdout', chunk));
    this.child.stderr.on('data', (chunk: Buffer) => this.hear('stderr', chunk));
    if (!input) this.child.stdin.end();
    this.ended = new Promise((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', (code) => {
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
        for (const check of this.waiting) check();
      });
    });
  }

  type(text: string): void {
    this.child.stdin.write(text);
  }
  /** As `head` does when it has seen enough. */
  closeOutput(): void {
    this.child.stdout.destroy();
  }
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
  /** Resolves when a text was written; rejects when the process ends without it. */
  shows(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (this[stream].includes(text)) {
          this.waiting.delete(check);
          resolve();
        } else if (this.child.exitCode !== null) {
          reject(new Error(`The process ended without ${JSON.stringify(text)}:\n${this.stdout}\n${this.stderr}`));
        }
      };
      this.waiting.add(check);
      check();
    });
  }
  /** The updates written under `--json`. Throws when anything else stands there. */
  lines(): readonly Readonly<Record<string, unknown>>[] {
    return this.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  private hear(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this[stream] += stripAnsi(chunk.toString('utf8'));
    for (const check of this.waiting) check();
  }
}

/** What a person's own settings say must not decide a test. */
function bareEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, TERM: 'xterm', CLAUDE_CODE_MAX_RETRIES: '0' };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
