import type { HookRun } from '../../../src/hooks/types.js';
import type { JsonObject } from '../../../src/json.js';
import type { PermissionFacts, PermissionRule, RuleMatch } from '../../../src/permissions/types.js';

/** What one tool call of a scripted flow does. Times in milliseconds of virtual time. */
export interface CallScript {
  readonly tool: string;
  readonly input: JsonObject;
  readonly safe?: boolean;
  readonly hooks?: readonly HookRun[];
  readonly facts?: Partial<PermissionFacts>;
  /** How the person answers and after how long; `null` leaves the question open. */
  readonly answer?: { readonly after: number; readonly behavior: 'allow' | 'deny' } | null | undefined;
  readonly runs?: number;
  readonly progress?: readonly string[];
  readonly output?: unknown;
  readonly fails?: string;
  /** The input does not fit the schema. */
  readonly invalid?: string;
  /** Turns of a subagent that this call starts. */
  readonly agent?: { readonly name: string; readonly turns: readonly TurnScript[] };
}
export interface TurnScript {
  readonly thinks: number;
  readonly calls: readonly CallScript[];
}

const projectSettings = '/work/shop/.claude/settings.json';
const userSettings = '/home/ada/.claude/settings.json';
export const rule = (behavior: PermissionRule['behavior'], text: string, line: number, file = projectSettings): PermissionRule => {
  const open = text.indexOf('(');
  return {
    behavior,
    toolName: open < 0 ? text : text.slice(0, open),
    ...(open < 0 ? {} : { ruleContent: text.slice(open + 1, -1) }),
    text,
    scope: file === userSettings ? 'userSettings' : 'projectSettings',
    file,
    line,
    root: '/work/shop',
  };
};
const match = (behavior: PermissionRule['behavior'], text: string, line: number, matched?: string, file?: string): RuleMatch => ({
  rule: rule(behavior, text, line, file),
  ...(matched === undefined ? {} : { matched }),
});

export const readOnly = { builtInAllow: 'Reads inside the working directories need no rule' } satisfies Partial<PermissionFacts>;
const allowTests = { allowRule: match('allow', 'Bash(npm test *)', 12) };

const guard: HookRun = {
  event: 'PreToolUse',
  name: 'guard.mjs',
  handler: 'command',
  command: 'node .claude/hooks/guard.mjs --strict',
  ms: 48,
  exitCode: 0,
  status: 'ok',
  verdict: 'passthrough',
  origin: `${projectSettings} hooks.PreToolUse[0].hooks[0]`,
};
const lint: HookRun = {
  event: 'PreToolUse',
  name: 'no-secrets',
  handler: 'command',
  command: 'scan-secrets --stdin',
  ms: 131,
  exitCode: 0,
  status: 'ok',
  verdict: 'ask',
  output: '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"writes to a deploy script"}}',
  origin: `${projectSettings} hooks.PreToolUse[1].hooks[0]`,
};

const read = (path: string, ms: number): CallScript => ({
  tool: 'Read',
  safe: true,
  input: { file_path: `/work/shop/${path}` },
  facts: readOnly,
  runs: ms,
  output: `1\timport { total } from './cart';\n2\t// ${path}\n`,
});
const grep = (pattern: string, ms: number): CallScript => ({
  tool: 'Grep',
  safe: true,
  input: { pattern, path: '/work/shop/src', output_mode: 'files_with_matches' },
  facts: readOnly,
  runs: ms,
  output: 'src/cart.ts\nsrc/checkout/total.ts\nsrc/checkout/tax.ts',
});

/** A person asks for a fix of a tax bug; a subagent looks around, one command is refused, a push waits for a yes. */
export const bugfix = (push: CallScript['answer']): readonly TurnScript[] => [
  {
    thinks: 2100,
    calls: [grep('roundTax', 310), read('src/checkout/tax.ts', 42), read('src/checkout/total.ts', 38), read('test/tax.test.ts', 55)],
  },
  {
    thinks: 1700,
    calls: [
      {
        tool: 'Agent',
        safe: true,
        input: {
          description: 'Find callers of roundTax',
          prompt: 'List every caller of roundTax and how it rounds.',
          subagent_type: 'explore',
        },
        facts: { builtInAllow: 'Starting a subagent needs no rule' },
        agent: {
          name: 'explore',
          turns: [
            {
              thinks: 1300,
              calls: [
                grep('roundTax\\(', 280),
                { tool: 'Glob', safe: true, input: { pattern: 'src/**/*.ts' }, facts: readOnly, runs: 120, output: '214 files' },
              ],
            },
            { thinks: 900, calls: [read('src/invoice/lines.ts', 61), read('src/invoice/credit.ts', 47), read('src/report/month.ts', 58)] },
            { thinks: 1500, calls: [] },
          ],
        },
        output: 'Four callers. Only src/invoice/credit.ts rounds before it sums.',
      },
      {
        tool: 'Bash',
        safe: true,
        input: { command: 'npm test -- tax', description: 'Run the tax tests' },
        facts: allowTests,
        hooks: [guard],
        runs: 3900,
        progress: ['vitest 4.1.12', '11 passed, 1 failed'],
        fails: 'Exit code 1\n FAIL  test/tax.test.ts > rounds once per invoice\n  expected 19.37 to be 19.38',
      },
    ],
  },
  {
    thinks: 1900,
    calls: [
      {
        tool: 'Edit',
        input: {
          file_path: '/work/shop/src/invoice/credit.ts',
          old_string:
            'export function creditTotal(lines: Line[]) {\n  return lines.map((line) => roundTax(line.net * line.rate)).reduce(add, 0);\n}',
          new_string:
            'export function creditTotal(lines: Line[]) {\n  const tax = lines.map((line) => line.net * line.rate).reduce(add, 0);\n  return roundTax(tax);\n}',
        },
        facts: {
          mode: 'acceptEdits',
          modeVerdict: { behavior: 'allow', reason: 'Mode acceptEdits allows edits inside the working directories' },
        },
        hooks: [guard],
        runs: 34,
        output: 'The file /work/shop/src/invoice/credit.ts has been updated.',
      },
      {
        tool: 'Bash',
        input: { command: 'rm -rf node_modules/.cache && npm test', description: 'Clear the cache and run all tests' },
        hooks: [guard],
        facts: {
          denyRule: match('deny', 'Bash(rm -rf *)', 7, 'rm -rf node_modules/.cache', userSettings),
          allowRule: match('allow', 'Bash(npm test *)', 12, 'npm test'),
          shadowed: [
            {
              rule: match('allow', 'Bash(npm test *)', 12, 'npm test'),
              by: 'deny Bash(rm -rf *) matched another part of the command first',
            },
          ],
        },
      },
      {
        tool: 'Read',
        safe: true,
        input: { path: '/work/shop/CHANGELOG.md' },
        invalid: 'file_path: expected a string, received nothing. Unknown key "path".',
      },
    ],
  },
  {
    thinks: 1200,
    calls: [
      {
        tool: 'Bash',
        safe: true,
        input: { command: 'npm test', description: 'Run all tests' },
        facts: allowTests,
        hooks: [guard],
        runs: 6200,
        progress: ['214 passed'],
        output: 'Test Files  38 passed (38)\n     Tests  214 passed (214)',
      },
      {
        tool: 'Write',
        input: { file_path: '/work/shop/scripts/deploy.sh', content: '#!/bin/sh\nset -eu\nnpm run build\nrsync -a dist/ web:/srv/shop/\n' },
        hooks: [guard, lint],
        facts: { hook: { behavior: 'ask', hookName: 'no-secrets', reason: 'writes to a deploy script' } },
        answer: { after: 5200, behavior: 'allow' },
        runs: 21,
        output: 'File created.',
      },
    ],
  },
  {
    thinks: 1400,
    calls: [
      {
        tool: 'Bash',
        safe: true,
        input: { command: 'git status --short && git diff --stat', description: 'See what changed' },
        facts: { builtInAllow: 'Only reads: git status, git diff' },
        hooks: [guard],
        runs: 88,
        output: ' M src/invoice/credit.ts\n?? scripts/deploy.sh\n src/invoice/credit.ts | 5 +++--',
      },
      {
        tool: 'Bash',
        input: { command: 'git commit -am "Round credit notes once" && git push origin main', description: 'Commit and push' },
        hooks: [guard],
        facts: {
          askRule: match('ask', 'Bash(git push *)', 14, 'git push origin main'),
          allowRule: match('allow', 'Bash(git *)', 11),
          shadowed: [{ rule: match('allow', 'Bash(git *)', 11), by: 'ask Bash(git push *) matched first' }],
          suggestions: [
            {
              type: 'addRules',
              rules: [{ toolName: 'Bash', ruleContent: 'git push origin main' }],
              behavior: 'allow',
              destination: 'localSettings',
            },
            { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'git push *' }], behavior: 'allow', destination: 'session' },
          ],
        },
        answer: push,
        runs: 1450,
        output: 'To github.com:ada/shop.git\n   4f1c2d9..8a7be01  main -> main',
      },
    ],
  },
];

/** One call for each way a decision can come about. */
export const verdicts: Readonly<Record<string, CallScript>> = {
  denyRule: {
    tool: 'Bash',
    input: { command: 'rm -rf /' },
    facts: {
      denyRule: match('deny', 'Bash(rm *)', 4),
      allowRule: match('allow', 'Bash', 2),
      shadowed: [{ rule: match('allow', 'Bash', 2), by: 'deny Bash(rm *) matched first' }],
    },
  },
  askRule: {
    tool: 'Bash',
    input: { command: 'git push' },
    facts: { askRule: match('ask', 'Bash(git push *)', 14) },
    answer: { after: 5, behavior: 'deny' },
  },
  allowRule: {
    tool: 'Bash',
    input: { command: 'npm test' },
    facts: { allowRule: match('allow', 'Bash(npm test)', 12, 'npm test', userSettings) },
    output: 'ok',
  },
  hookDenies: {
    tool: 'Bash',
    input: { command: 'curl x' },
    hooks: [guard],
    facts: { hook: { behavior: 'deny', hookName: 'guard.mjs', reason: 'no network' } },
  },
  hookAsksOverAllow: {
    tool: 'Write',
    input: { file_path: '/x' },
    hooks: [lint],
    facts: {
      hook: { behavior: 'ask', hookName: 'no-secrets', reason: 'looks like a key' },
      allowRule: match('allow', 'Write', 5),
      shadowed: [{ rule: match('allow', 'Write', 5), by: 'the hook no-secrets asks' }],
    },
    answer: { after: 5, behavior: 'allow' },
    output: 'ok',
  },
  bypass: {
    tool: 'Bash',
    input: { command: 'make' },
    facts: { mode: 'bypassPermissions', modeVerdict: { behavior: 'allow', reason: 'Mode bypassPermissions allows everything' } },
    output: 'ok',
  },
  nobodyToAsk: { tool: 'Bash', input: { command: 'npm publish' }, facts: { canAsk: false } },
};
