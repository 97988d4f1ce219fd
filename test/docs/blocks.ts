import { readFileSync } from 'node:fs';

/** A fenced block of a page, with the instructions that stand before it in HTML comments. */
export interface Block {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly marks: Marks;
}

/**
 * What a comment before a block may say:
 *
 * - `not run: WHY`: it cannot run alone. TypeScript is type-checked all the same.
 * - `file: NAME`: it is written to this file of the page's directory, for later blocks. A `*.test.ts` is run by Vitest.
 * - `model: NAME`: a scripted API server answers, by the script of that name.
 * - `with: NAME`: code that the text before it has established is put in front.
 * - `exit: CODE`: what the commands exit with.
 */
export interface Marks {
  readonly 'not run'?: string;
  readonly file?: string;
  readonly model?: string;
  readonly with?: string;
  readonly exit?: string;
}
const MARK = /^<!-- (not run|file|model|with|exit): (.+?) -->$/;

export function blocksOf(file: string, page: string): readonly Block[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const blocks: Block[] = [];
  let marks: Record<string, string> = {};
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const mark = MARK.exec(line);
    if (mark?.[1] !== undefined && mark[2] !== undefined) marks[mark[1]] = mark[2];
    const fence = /^```(\w*)$/.exec(line);
    if (fence) {
      const end = lines.indexOf('```', at + 1);
      if (end === -1) throw new Error(`${page}:${at + 1}: the block has no end.`);
      blocks.push({ page, line: at + 1, language: fence[1] ?? '', text: lines.slice(at + 1, end).join('\n'), marks });
      at = end;
    }
    if (!mark) marks = {};
  }
  return blocks;
}

/** Targets of links and images that are files of the project, with their lines. */
export function linksOf(file: string): readonly { readonly target: string; readonly line: number }[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)\s]+)\)|<img[^>]* src="([^"]+)"/g)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((target) => !/^(https?:|#|mailto:)/.test(target))
      .map((target) => ({ target, line: index + 1 })),
  );
}
