import { readRule } from '../../permissions/grammar.js';
import { BASH_TOOLS, PATH_TOOLS } from '../../permissions/toolNames.js';
import type { PermissionRule } from '../../permissions/types.js';
import type { CallCase } from '../explore/types.js';
import { ruleText } from '../ruleText.js';
import type { AuditBench } from './bench.js';
import type { Finding } from './finding.js';

const about = (rule: PermissionRule): Pick<Finding, 'subject' | 'file' | 'line'> => ({
  subject: `${rule.behavior} ${rule.text}`,
  ...(rule.file === undefined ? {} : { file: rule.file, line: rule.line ?? 1 }),
});

const isInert = (rule: PermissionRule, bench: AuditBench): boolean => readingOf(rule, bench).matchers.length === 0;
const readingOf = (rule: PermissionRule, { tools, home }: AuditBench) => readRule(rule, { toolNames: tools.map(({ name }) => name), home });

/** Rules that mean nothing or hardly what they say, and rules that other rules leave nothing to decide. */
export function auditRules(bench: AuditBench): readonly Finding[] {
  return bench.settings.rules.flatMap((rule, index): Finding[] => {
    const { matchers, warnings } = readingOf(rule, bench);
    if (matchers.length === 0) return [inertRule(rule, warnings, bench)];
    const doubtful = warnings.map(
      (message): Finding => ({ kind: 'doubtful', severity: 'warning', ...about(rule), message: `${message}.` }),
    );
    return [...doubtful, ...standing(rule, index, bench)];
  });
}

function inertRule(rule: PermissionRule, warnings: readonly string[], bench: AuditBench): Finding {
  const message = `${warnings.join('; ') || `${rule.text} has no effect`}.`;
  const meant = plainCalls(rule, bench)[0];
  const explained = meant === undefined ? undefined : bench.explain(meant);
  const keepsBack = rule.behavior !== 'allow';
  const heldAnyway =
    explained !== undefined && (explained.decision === 'deny' || (rule.behavior === 'ask' && explained.decision === 'ask'));
  return {
    kind: 'inert',
    severity: keepsBack && !heldAnyway ? 'hole' : 'warning',
    ...about(rule),
    message,
    ...(meant === undefined || explained === undefined ? {} : { witness: bench.witness(meant, explained) }),
  };
}

function plainCalls(rule: PermissionRule, bench: AuditBench): readonly CallCase[] {
  try {
    return bench.spell(rule, 'plain');
  } catch {
    // What cannot be read as a pattern has no call to show.
    return [];
  }
}

/** Arguments that no rule is written for: a rule that catches them catches all. */
const NEUTRAL = ['zq7', 'zq8 --zq9'];

/** Calls from all over what a rule covers; a single one where it covers a single one. */
function neutralCalls(rule: PermissionRule, bench: AuditBench): readonly CallCase[] {
  const content = rule.ruleContent?.trim() ?? '';
  if (BASH_TOOLS.has(rule.toolName)) {
    const whole = content === '' || content === '*';
    const head = /^(.*?)(?::\*|[ ]?\*)$/s.exec(content)?.[1];
    const commands = whole
      ? ['zq7', 'zq8 zq9']
      : head === undefined
        ? [content.replaceAll('*', 'zq7')]
        : NEUTRAL.map((more) => `${head} ${more}`);
    return commands.map((command) => bench.bash(command));
  }
  if (!PATH_TOOLS.has(rule.toolName)) return plainCalls(rule, bench);
  if (content === '' || content === '*')
    return [bench.cwd, bench.home, '/zq7'].flatMap((directory) =>
      plainCalls({ ...rule, text: `${rule.toolName}(/${directory}/zq7.zq)` }, bench),
    );
  return plainCalls(rule, bench).map((call) => ({ ...call, input: renamed(call.input) }));
}

const renamed = (input: CallCase['input']): CallCase['input'] =>
  Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, typeof value === 'string' ? value.replace(/sample\.(txt|ts)$/, 'zq7.zq') : value]),
  );

function standing(rule: PermissionRule, index: number, bench: AuditBench): Finding[] {
  const calls = neutralCalls(rule, bench);
  if (calls.length === 0) return [];
  const facts = calls.map((call) => bench.facts(call));
  const above = facts.map(({ denyRule, askRule }) =>
    rule.behavior === 'allow' ? (denyRule ?? askRule) : rule.behavior === 'ask' ? denyRule : null,
  );
  const [first] = above;
  if (first !== null && first !== undefined && above.every((match) => match !== null)) {
    const [call] = calls;
    return [
      {
        kind: 'shadowed',
        severity: rule.behavior === 'allow' ? 'warning' : 'note',
        ...about(rule),
        message: `It never decides: ${ruleText(first.rule)} stands above it on every call it covers.`,
        ...(call === undefined ? {} : { witness: bench.witness(call, bench.explain(call)) }),
        advice: 'Remove it, or narrow the rule above it.',
      },
    ];
  }
  return redundant(rule, index, calls, bench);
}

function redundant(rule: PermissionRule, index: number, calls: readonly CallCase[], bench: AuditBench): Finding[] {
  const others = bench.settings.rules.filter((other) => other !== rule && other.behavior === rule.behavior && !isInert(other, bench));
  if (others.length === 0) return [];
  const explain = bench.without(rule);
  const covering = calls.map((call) => {
    const { winner } = explain(call);
    return winner.source?.type === 'rule' && winner.source.rule.behavior === rule.behavior ? winner.source.rule : null;
  });
  const [by] = covering;
  if (by === null || by === undefined || covering.some((one) => one === null)) return [];
  // Of two that say the same, the later one is the one too many.
  if (by.text === rule.text && bench.settings.rules.indexOf(by) > index) return [];
  return [
    {
      kind: 'redundant',
      severity: 'note',
      ...about(rule),
      message: `It changes nothing: ${ruleText(by)} covers every call it covers.`,
      advice: 'Remove it.',
    },
  ];
}
