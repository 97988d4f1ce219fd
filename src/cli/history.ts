import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectorySync } from '../makeDirectory.js';
import { cwdSlug } from '../messages/paths.js';

const KEPT = 1000;
/** A file that has grown beyond this many lines is cut back when it is opened. */
const MOST = 2 * KEPT;

/** What a person typed in a project, for the up arrow. Kept across sessions, one JSON string a line, readable by its owner only. */
export class PromptHistory {
  private entries: string[];
  private isWritable = true;

  constructor(private readonly file: string) {
    const lines = readLines(file);
    this.entries = lines.slice(-KEPT);
    if (lines.length > MOST) this.write(() => writeFileSync(file, this.entries.map(lineOf).join(''), { mode: 0o600 }));
  }

  static of(dataDir: string, cwd: string): PromptHistory {
    return new PromptHistory(join(dataDir, 'history', `${cwdSlug(cwd)}.jsonl`));
  }

  /** Oldest first. */
  get lines(): readonly string[] {
    return this.entries;
  }

  /** What repeats the line before it is not kept twice. */
  add(line: string): void {
    if (line.trim() === '' || this.entries.at(-1) === line) return;
    this.entries = [...this.entries, line].slice(-KEPT);
    this.write(() => {
      makeDirectorySync(dirname(this.file), 0o700);
      appendFileSync(this.file, lineOf(line), { mode: 0o600 });
    });
  }

  /** A disk that refuses costs the history, not the conversation. */
  private write(work: () => void): void {
    if (!this.isWritable) return;
    try {
      work();
    } catch {
      this.isWritable = false;
    }
  }
}

const lineOf = (line: string): string => `${JSON.stringify(line)}\n`;

function readLines(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'string' ? [value] : [];
    } catch {
      // The last line of a process that died while writing, or an empty one.
      return [];
    }
  });
}
