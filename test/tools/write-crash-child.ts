/** Edits a file and ends itself with SIGKILL at one step of the write; started by write-crash.test.ts. */
import { readFileSync } from 'node:fs';
import { editTool } from '../../src/tools/edit/edit.js';
import { createFileLedger, digestOf } from '../../src/tools/fs/ledger.js';
import { contextIn } from './context.js';

const [, , dir, file, step] = process.argv;
if (dir === undefined || file === undefined || step === undefined) throw new Error('usage: write-crash-child <dir> <file> <step>');
const files = createFileLedger([[file, { digest: digestOf(readFileSync(file)), partial: false }]]);
const tool = editTool({
  observe(reached) {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
});
await tool.call({ file_path: file, old_string: 'old', new_string: 'new', replace_all: true }, contextIn(dir, { files }), () => undefined);
process.stdout.write('finished');
