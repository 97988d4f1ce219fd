import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

function versionOf(modules: string, name: string): string {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
  return `${name} ${version}`;
}

/** Machine, versions, date: what a figure means nothing without. */
export function describeEnvironment(root: string, withPeers: boolean): readonly (readonly [name: string, value: string])[] {
  const own = join(root, 'node_modules');
  const peers = join(root, 'test/bench/peers/node_modules');
  const { length } = cpus();
  return [
    ['date', new Date().toISOString().slice(0, 10)],
    ['commit', commit(root)],
    [
      'machine',
      `${length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}`,
    ],
    ['load when started', (loadavg()[0] ?? 0).toFixed(1)],
    ['Node', process.version],
    ['Sixgates', [versionOf(own, 'xstate'), versionOf(own, 'zod'), versionOf(own, 'rxjs')].join(', ')],
    ['hand-written loop', versionOf(own, '@anthropic-ai/sdk')],
    ...(withPeers
      ? ([
          ['AI SDK', ['ai', '@ai-sdk/anthropic'].map((name) => versionOf(peers, name)).join(', ')],
          ['LangGraph', ['langgraph', 'anthropic', 'core'].map((name) => versionOf(peers, `@langchain/${name}`)).join(', ')],
        ] as const)
      : []),
  ];
}

function commit(root: string): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const changed = git('status', '--porcelain', '--untracked-files=no', 'src', 'machines') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
