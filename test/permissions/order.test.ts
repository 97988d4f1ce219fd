import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PermissionEngine } from '../../src/permissions/engine.js';
import { explainCall } from '../../src/permissions/explain.js';
import { ruleFromText } from '../../src/permissions/grammar.js';
import type { PathFs } from '../../src/permissions/paths.js';
import type { PermissionMode, PermissionRule, RuleBehavior, RuleScope } from '../../src/permissions/types.js';

const noFiles: PathFs = { readlink: () => null, readdir: () => [] };

/** Rules without a leading slash: where they come from does not say what they mean. */
const RULES = [
  'Bash',
  'Bash(git *)',
  'Bash(git push *)',
  'Bash(npm run test:*)',
  'Bash(rm *)',
  'Bash(timeout:6*)',
  'Read',
  'Read(.env)',
  'Read(./secret/**)',
  'Read(//etc/**)',
  'Edit(src/**)',
  'Edit(**/*.md)',
  'Edit(~/notes/**)',
  'WebFetch(domain:*.example.com)',
  'WebFetch',
  'mcp__a',
  'mcp__a__b',
  'mcp__*',
  'mcp__a__*',
  'Agent(Explore)',
  'Write(x)',
] as const;

const CALLS = [
  ['Bash', { command: 'git push origin main' }],
  ['Bash', { command: 'git status && rm -rf x' }],
  ['Bash', { command: 'npm run test --x', timeout: 60 }],
  ['Bash', { command: 'cat .env' }],
  ['Read', { file_path: 'secret/k.txt' }],
  ['Read', { file_path: '/etc/passwd' }],
  ['Write', { file_path: 'src/a.md', content: '' }],
  ['Edit', { file_path: '/home/u/notes/n.md', old_string: 'a', new_string: 'b' }],
  ['WebFetch', { url: 'https://a.example.com', prompt: 'p' }],
  ['mcp__a__b', {}],
  ['mcp__b__c', {}],
  ['Agent', { subagent_type: 'Explore', prompt: 'p' }],
] as const;

const SCOPES: readonly RuleScope[] = [
  'managed',
  'cliArg',
  'flagSettings',
  'localSettings',
  'projectSettings',
  'userSettings',
  'session',
  'option',
];

interface Placed {
  readonly text: string;
  readonly behavior: RuleBehavior;
  readonly scope: RuleScope;
}

const placed: fc.Arbitrary<Placed> = fc.record({
  text: fc.constantFrom(...RULES),
  behavior: fc.constantFrom<RuleBehavior>('allow', 'ask', 'deny'),
  scope: fc.constantFrom(...SCOPES),
});

function verdicts(rules: readonly Placed[], mode: PermissionMode): string[] {
  const read = rules.map(({ text, behavior, scope }): PermissionRule => {
    const rule = ruleFromText(text, behavior, { scope, root: `/roots/${scope}`, file: `/roots/${scope}/settings.json`, line: 1 });
    if ('problem' in rule) throw new Error(rule.problem);
    return rule;
  });
  const engine = new PermissionEngine({
    rules: read,
    mode,
    cwd: '/home/u/p',
    home: '/home/u',
    fs: noFiles,
    canAsk: true,
    platform: 'linux',
  });
  return CALLS.map(([toolName, input]) => explainCall(engine, { toolName, input }).decision);
}

const modes = fc.constantFrom<PermissionMode>('default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions');

describe('the order of rules', () => {
  it('never changes a verdict, nor does the scope they come from', () => {
    fc.assert(
      fc.property(fc.array(placed, { maxLength: 8 }), modes, fc.infiniteStream(fc.nat()), (rules, mode, numbers) => {
        const next = (): number => numbers.next().value ?? 0;
        const moved = rules.map((rule) => ({ rule: { ...rule, scope: SCOPES[next() % SCOPES.length] ?? rule.scope }, at: next() }));
        const shuffled = moved.sort((a, b) => a.at - b.at).map(({ rule }) => rule);
        expect(verdicts(shuffled, mode)).toEqual(verdicts(rules, mode));
      }),
      { numRuns: 150 },
    );
  });

  it('adding a deny or ask rule never lowers a verdict, adding an allow rule never raises one', () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(fc.array(placed, { maxLength: 6 }), placed, modes, (rules, added, mode) => {
        const before = verdicts(rules, mode);
        const after = verdicts([...rules, added], mode);
        for (const [index, decision] of after.entries()) {
          const change = rank[decision as keyof typeof rank] - rank[before[index] as keyof typeof rank];
          expect(
            added.behavior === 'allow' ? change <= 0 : change >= 0,
            `${added.behavior} ${added.text}: ${before[index]} → ${decision}`,
          ).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });
});
