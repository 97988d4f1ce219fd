import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type ConfiguredHook, type HookIssue, loadHooks } from '../../hooks/index.js';
import { BUILTIN_TOOL_NAMES } from '../../permissions/toolNames.js';
import type { LoadedSettings } from '../../settings/types.js';
import type { CallCase } from '../explore/types.js';
import type { AuditBench } from './bench.js';
import type { Finding, Witness } from './finding.js';

/** Hooks that never run, that cannot refuse, and that let a call go on when they fail. */
export function auditHooks(bench: AuditBench): readonly Finding[] {
  const { settings } = bench;
  const { hooks, issues } = loadHooks(settings.files);
  const guards = hooks.filter(({ event }) => event === 'PreToolUse');
  // Of a guard that no tool reaches the audit speaks itself, with advice.
  const unreached = new Set(
    guards.filter((hook) => !reachesATool(hook, bench)).map(({ origin }) => `${origin.path.replace(/\.hooks\[\d+\]$/, '')}.matcher`),
  );
  const faulty = issues
    .filter(({ severity, path }) => severity !== 'note' && !unreached.has(path))
    .map((issue) => issueFinding(issue, settings));
  return [...faulty, ...guards.flatMap((hook) => auditGuard(hook, bench))];
}

function reachesATool({ matches, matcher }: ConfiguredHook, { tools }: AuditBench): boolean {
  const known = [...BUILTIN_TOOL_NAMES, ...tools.map(({ name }) => name), 'mcp__server__tool'];
  return known.some((name) => matches(name)) || /mcp__/.test(matcher ?? '');
}

function issueFinding({ file, path, message, severity }: HookIssue, settings: LoadedSettings): Finding {
  const place = lineOf(settings, file, path);
  return { kind: 'inertHook', severity: severity === 'error' ? 'warning' : 'note', subject: path, ...place, message };
}

function lineOf({ hooks }: LoadedSettings, file: string | undefined, path: string): Pick<Finding, 'file' | 'line'> {
  const [, event, index] = /^hooks\.([A-Za-z]+)(?:\[(\d+)\])?/.exec(path) ?? [];
  const line = hooks.filter((group) => group.event === event && group.file === file)[Number(index ?? 0)]?.line;
  return { ...(file === undefined ? {} : { file }), ...(line === undefined ? {} : { line }) };
}

function auditGuard(hook: ConfiguredHook, bench: AuditBench): readonly Finding[] {
  const { handler, origin, matcher } = hook;
  const place = { subject: `${origin.path} ${hook.name}`, ...lineOf(bench.settings, origin.file, origin.path) };
  if (!reachesATool(hook, bench))
    return [
      {
        kind: 'inertHook',
        severity: 'warning',
        ...place,
        message: `Its matcher ${JSON.stringify(matcher)} matches no known tool, so it never runs.`,
        advice: 'Tool names are case-sensitive: "Bash", "Edit|Write".',
      },
    ];
  if (handler.type === 'command' && (handler.async === true || handler.asyncRewake === true))
    return [{ kind: 'inertHook', severity: 'note', ...place, message: 'It runs in the background, so it can refuse nothing.' }];
  const missing = handler.type === 'command' ? missingProgram(handler.command, handler.args !== undefined, bench.cwd) : null;
  const opensAt = handler.onFailure === 'block' ? null : openCall(hook, bench);
  return [
    ...(missing === null
      ? []
      : [
          {
            kind: 'inertHook' as const,
            severity: 'warning' as const,
            ...place,
            message: `Its program ${missing} does not exist; it decides nothing.`,
          },
        ]),
    ...(handler.onFailure === 'block' || opensAt === null
      ? []
      : [
          {
            kind: 'failsOpen' as const,
            severity: opensAt.decision === 'allow' ? ('warning' as const) : ('note' as const),
            ...place,
            message:
              opensAt.decision === 'allow'
                ? 'When it fails (any exit code but 0 and 2, a timeout, a missing program) the call goes on, and this one runs unasked.'
                : 'When it fails (any exit code but 0 and 2, a timeout, a missing program) the call goes on as if it had said nothing.',
            witness: opensAt,
            advice: 'If it is a guard, set "onFailure": "block" beside its command.',
          },
        ]),
  ];
}

/** A call that the hook guards: the first that would run unasked without it, else the first. */
function openCall(hook: ConfiguredHook, bench: AuditBench): Witness | null {
  const { cwd } = bench;
  const usual: readonly CallCase[] = [
    bench.bash('npm test'),
    bench.bash('git status'),
    { tool: 'Edit', input: { file_path: `${cwd}/src/index.ts`, old_string: 'a', new_string: 'b' }, text: 'Edit(src/index.ts)' },
    { tool: 'Write', input: { file_path: `${cwd}/src/index.ts`, content: '' }, text: 'Write(src/index.ts)' },
    { tool: 'Read', input: { file_path: `${cwd}/src/index.ts` }, text: 'Read(src/index.ts)' },
    { tool: 'WebFetch', input: { url: 'https://example.com/', prompt: 'x' }, text: 'WebFetch(https://example.com/)' },
  ];
  const allowed = bench.settings.rules.filter(({ behavior }) => behavior === 'allow').flatMap((rule) => safeSpell(rule, bench));
  const guarded = [...allowed, ...usual].filter(({ tool }) => hook.matches(tool));
  const judged = guarded.map((call) => ({ call, explained: bench.explain(call) }));
  // What only reads runs unasked anyway: no guard is missed.
  const unasked = judged.find(({ explained }) => explained.decision === 'allow' && explained.winner.source?.type !== 'builtIn');
  const open = unasked ?? judged.find(({ explained }) => explained.decision !== 'allow');
  return open === undefined ? null : bench.witness(open.call, open.explained);
}

function safeSpell(rule: Parameters<AuditBench['spell']>[0], bench: AuditBench): readonly CallCase[] {
  try {
    return bench.spell(rule, 'plain');
  } catch {
    return [];
  }
}

/** The program of a command that is given as a path and is not there. What the shell would have to work out is not judged. */
function missingProgram(command: string, exact: boolean, cwd: string): string | null {
  const first = exact ? command : (/^\s*("[^"]*"|'[^']*'|\S+)/.exec(command)?.[1] ?? '').replace(/^(["'])(.*)\1$/s, '$2');
  const path = first.replace(/^\$\{?CLAUDE_PROJECT_DIR\}?(?=\/)/, cwd);
  if (!path.includes('/') || /[$`*?{}~<>|&;]/.test(path)) return null;
  return existsSync(isAbsolute(path) ? path : resolve(cwd, path)) ? null : first;
}
