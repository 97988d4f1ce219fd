import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as machines from '../../machines/index.js';
import { diagramFiles } from '../../scripts/diagramFiles.js';

const directory = fileURLToPath(new URL('../../visualizations/diagrams/', import.meta.url));

it('the committed diagrams are those of the machines as they are (else: npm run diagrams)', () => {
  const wanted = diagramFiles(machines);
  expect(wanted.size).toBeGreaterThanOrEqual(6);
  const committed = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.md')) : [];
  expect(committed.sort()).toEqual([...wanted.keys()].sort());
  for (const [name, text] of wanted) expect(readFileSync(`${directory}${name}`, 'utf8')).toBe(text);
});
