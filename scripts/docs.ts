/** `npm run docs`: puts the generated diagrams where docs/*.md ask for them, with a line `<!-- diagram: NAME -->`. A test keeps them current. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const FENCE = /(<!-- diagram: (\w+) -->\n)```mermaid\n[\s\S]*?\n```/g;

/** The text of a page with its diagrams as they are generated now. */
export function withDiagrams(text: string): string {
  return text.replaceAll(FENCE, (_, mark: string, name: string) => {
    const page = readFileSync(join(root, `visualizations/diagrams/${name}.md`), 'utf8');
    const [diagram] = /```mermaid\n[\s\S]*?\n```/.exec(page) ?? [];
    if (diagram === undefined) throw new Error(`visualizations/diagrams/${name}.md holds no diagram.`);
    return `${mark}${diagram}`;
  });
}

export const pagesWithDiagrams = (): readonly string[] => [
  join(root, 'README.md'),
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [join(root, 'docs', name)] : [])),
];

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const page of pagesWithDiagrams()) writeFileSync(page, withDiagrams(readFileSync(page, 'utf8')));
