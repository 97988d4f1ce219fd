import { PermissionEngine } from '../../src/permissions/engine.js';
import { explainCall } from '../../src/permissions/explain.js';
import { ruleFromText } from '../../src/permissions/grammar.js';
import type { PermissionRule, RuleBehavior } from '../../src/permissions/types.js';

export interface PermissionBenchRow {
  readonly name: string;
  /** Median and 95th percentile of one decision, in microseconds. */
  readonly medianUs: number;
  readonly p95Us: number;
}

const RULES = 300;
const ROUNDS = 400;

function rules(count: number): PermissionRule[] {
  const texts = (index: number): [RuleBehavior, string] => {
    const kinds: readonly [RuleBehavior, string][] = [
      ['deny', `Bash(tool-${index} --force*)`],
      ['allow', `Bash(npm run task-${index} *)`],
      ['deny', `Read(~/.secrets-${index}/**)`],
      ['ask', `Edit(/packages/p${index}/**)`],
      ['allow', `WebFetch(domain:host-${index}.example.com)`],
    ];
    return kinds[index % kinds.length] ?? ['deny', `Bash(tool-${index})`];
  };
  return Array.from({ length: count }, (_, index) => {
    const [behavior, text] = texts(index);
    const rule = ruleFromText(text, behavior, {
      scope: 'projectSettings',
      root: '/work/p',
      file: '/work/p/.claude/settings.json',
      line: index,
    });
    if ('problem' in rule) throw new Error(rule.problem);
    return rule;
  });
}

/** What one decision costs under 300 rules: its facts alone, and facts and permission machine together. */
export async function run(): Promise<readonly PermissionBenchRow[]> {
  const engine = new PermissionEngine({ rules: rules(RULES), cwd: '/work/p', home: '/home/u', canAsk: true });
  // A different command each round: the analysis of a command must not come from a cache.
  const calls = (round: number) =>
    [
      ['Bash: ls', { toolName: 'Bash', input: { command: `ls -la src/${round}` } }],
      ['Bash: git status && npm run task', { toolName: 'Bash', input: { command: `git status && npm run task-1 -- --n=${round}` } }],
      ['Bash: cat file | grep', { toolName: 'Bash', input: { command: `cat src/a${round}.ts | grep -n "x" | head -5` } }],
      ['Read', { toolName: 'Read', input: { file_path: `/work/p/src/a${round}.ts` } }],
      ['Write', { toolName: 'Write', input: { file_path: `/work/p/packages/p3/a${round}.ts`, content: '' } }],
      ['WebFetch', { toolName: 'WebFetch', input: { url: `https://host-${round}.example.com/`, prompt: 'p' } }],
    ] as const;
  const samples = new Map<string, number[]>();
  const measure = (name: string, work: () => unknown): void => {
    const start = performance.now();
    work();
    samples.set(name, [...(samples.get(name) ?? []), (performance.now() - start) * 1_000]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, call] of calls(round)) {
      measure(`facts, ${RULES} rules: ${name}`, () => engine.facts(call));
    }
    for (const [name, call] of calls(round + ROUNDS)) {
      measure(`decision, ${RULES} rules: ${name}`, () => explainCall(engine, call));
    }
  }
  return [...samples].map(([name, times]) => {
    const warm = times.slice(ROUNDS / 4).sort((a, b) => a - b);
    const at = (share: number): number => Math.round(warm[Math.floor(warm.length * share)] ?? 0);
    return { name, medianUs: at(0.5), p95Us: at(0.95) };
  });
}
