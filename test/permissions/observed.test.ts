import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { explainCommand } from '../../src/cli/explain.js';
import { Workspace } from './workspace.js';

const directory = join(import.meta.dirname, '../../../shared/decisions');
const available = existsSync(join(directory, 'observed.jsonl'));
if (!available) console.log(`skipped: ${directory} holds no observed decisions`);

const decision = z.enum(['allow', 'ask', 'deny']);
const row = z.object({
  group: z.string(),
  mode: z.string(),
  settings: z.unknown(),
  local: z.unknown().optional(),
  user: z.unknown().optional(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  decision,
});
type Row = z.infer<typeof row>;
const workspaces = z.record(
  z.string(),
  z.object({ files: z.array(z.string()).default([]), links: z.record(z.string(), z.string()).default({}) }),
);

/** Where this build decides otherwise, and why. `kind` says what the observed decision would have let through. */
const differences = z
  .array(
    z.object({
      group: z.string(),
      tool: z.string(),
      input: z.record(z.string(), z.unknown()),
      observed: decision,
      ours: decision,
      kind: z.enum(['lets a denied command through', 'lets a denied file through', 'choice']),
      reason: z.string().min(10),
    }),
  )
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'differences.json'), 'utf8')));

const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
const rows = available
  ? read('observed.jsonl')
      .trim()
      .split('\n')
      .map((line) => row.parse(JSON.parse(line)))
  : [];
const layouts = available ? workspaces.parse(JSON.parse(read('workspaces.json'))) : {};

const groups = new Map<string, Row[]>();
for (const one of rows) {
  const key = JSON.stringify([one.group, one.mode, one.settings, one.local, one.user]);
  groups.set(key, [...(groups.get(key) ?? []), one]);
}

const spaces: Workspace[] = [];
afterAll(() => {
  for (const space of spaces) space.remove();
});

/** Lays a group's workspace out and puts its calls to `explain --jsonl`. */
async function decisionsOf(calls: readonly Row[], opaque: 'strict' | 'claude-code' = 'strict'): Promise<string[]> {
  const [first] = calls;
  if (first === undefined) return [];
  const space = new Workspace();
  spaces.push(space);
  const fill = (source: string): string => source.replaceAll('$WS', space.cwd).replaceAll('$HOME', space.home);
  const layout = layouts[first.group] ?? { files: [], links: {} };
  for (const name of layout.files) space.file(name);
  for (const [name, target] of Object.entries(layout.links)) space.link(name, fill(target));
  const settings = space.file('../project.json', fill(JSON.stringify(first.settings)));
  if (first.local != null) space.file('.claude/settings.local.json', fill(JSON.stringify(first.local)));
  if (first.user != null) space.file('~/.claude/settings.json', fill(JSON.stringify(first.user)));

  const input = new PassThrough();
  const output = new PassThrough();
  const errors = new PassThrough();
  // Inside a command, $HOME is the shell's own variable.
  for (const { tool, input: given } of calls) {
    const json = JSON.stringify(given);
    input.write(`${JSON.stringify({ tool, input: JSON.parse(tool === 'Bash' ? json.replaceAll('$WS', space.cwd) : fill(json)) })}\n`);
  }
  input.end();
  const command = explainCommand({ input, output, errors });
  const flags = [
    '--jsonl',
    '--settings',
    settings,
    '--cwd',
    space.cwd,
    '--home',
    space.home,
    '--mode',
    first.mode,
    '--managed',
    '/nowhere',
    '--opaque',
    opaque,
  ];
  const printed = text(output);
  await command.parseAsync(flags, { from: 'user' });
  output.end();
  return (await printed)
    .trim()
    .split('\n')
    .map((line) => z.object({ decision }).parse(JSON.parse(line)).decision);
}

const rank = { allow: 0, ask: 1, deny: 2 } as const;

describe.skipIf(!available)('decisions observed from outside', () => {
  it('are met in at least 98 of 100 calls, and nowhere in a laxer way', async () => {
    const found: unknown[] = [];
    const laxer: unknown[] = [];
    for (const calls of groups.values()) {
      const ours = await decisionsOf(calls);
      for (const [index, { group, tool, input, decision: observed }] of calls.entries()) {
        const mine = decision.parse(ours[index]);
        if (mine === observed) continue;
        found.push({ group, tool, input, observed, ours: mine });
        if (rank[mine] < rank[observed]) laxer.push({ group, tool, input, observed, ours: mine });
      }
    }
    expect(laxer).toEqual([]);
    expect(found).toEqual(expect.arrayContaining(differences.map(({ kind: _kind, reason: _reason, ...difference }) => difference)));
    expect(found).toHaveLength(differences.length);
    const choices = differences.filter(({ kind }) => kind === 'choice').length;
    const share = (rows.length - choices) / rows.length;
    console.log(
      `observed decisions: ${rows.length - found.length} of ${rows.length} equal, ${found.length - choices} stricter where a denied thing got through, ${choices} by choice`,
    );
    expect(share).toBeGreaterThanOrEqual(0.98);
  });

  it('are met with the leniency of Claude Code, but for choices', async () => {
    const found: unknown[] = [];
    for (const calls of groups.values()) {
      const ours = await decisionsOf(calls, 'claude-code');
      for (const [index, { group, tool, input, decision: observed }] of calls.entries()) {
        const mine = decision.parse(ours[index]);
        if (mine !== observed) found.push({ group, tool, input, observed, ours: mine });
      }
    }
    const choices = differences
      .filter(({ kind }) => kind === 'choice')
      .map(({ kind: _kind, reason: _reason, ...difference }) => difference);
    expect(choices).toEqual(expect.arrayContaining(found));
    console.log(`observed decisions with --opaque claude-code: ${rows.length - found.length} of ${rows.length} equal`);
  });
});
