import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the runtime in one process', () => {
  it('loads nothing of the engine: no import leads from the library or the command line to it', () => {
    for (const entry of ['src/index.ts', 'src/testing/index.ts', 'src/inspect/index.ts', 'src/cli/main.ts']) {
      const { files, packages } = reachable(entry);
      expect(files.length).toBeGreaterThan(5);
      expect(files.filter((file) => file.startsWith('src/durable/'))).toEqual([]);
      expect([...packages].filter((name) => name.startsWith('@restatedev/'))).toEqual([]);
    }
  });

  it('would notice: the entry for Restate does lead to it', () => {
    expect(reachable('src/durable/index.ts').packages).toContain('@restatedev/restate-sdk');
  });
});

const IMPORT = /^(?:import|export)\s+(type\s)?(?:[\w$*{}\s,]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;

/** Every file and package that is loaded with `entry`; what is imported by a call is loaded only when it is needed. */
function reachable(entry: string): { readonly files: readonly string[]; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    for (const [, type, from = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      if (type !== undefined) continue;
      if (from.startsWith('.')) visit(resolve(dirname(file), from.replace(/\.js$/, '.ts')));
      else packages.add(from);
    }
  };
  visit(join(root, entry));
  return { files: [...files].map((file) => relative(root, file)), packages };
}
