// Writes visualizations/diagrams/<machine>.md for every machine that machines/index.ts exports. A test fails when they are stale.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as exported from '../machines/index.js';
import { diagramFiles } from './diagramFiles.js';

const directory = fileURLToPath(new URL('../visualizations/diagrams', import.meta.url));
mkdirSync(directory, { recursive: true });
const files = diagramFiles(exported);
for (const name of readdirSync(directory)) if (name.endsWith('.md') && !files.has(name)) rmSync(join(directory, name));
for (const [name, text] of files) writeFileSync(join(directory, name), text);
console.log(`${files.size} diagrams in visualizations/diagrams`);
