import { joinPath } from './directories.js';
import type { Operand } from './operands.js';

const ACTION = /^-(exec|execdir|ok|okdir|delete)$/;
const NAME_TEST = /^-(i?name|i?path|i?wholename)$/;
const NOT = /^(!|-not)$/;
const CHAIN_END = /^(-o|-or|,|\(|\)|!|-not)$/;
/** Deeper parentheses are not looked at: what a test in them fits counts as found. */
const MAX_GROUPS = 4;

/** What `find … -name x` looks for, where it hands it to a program or deletes it. */
export function foundFiles(args: readonly string[]): Operand[] {
  if (!args.some((arg) => ACTION.test(arg))) return [];
  const access = args.includes('-delete') ? 'remove' : 'read';
  const first = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPDO]/.test(arg));
  const starts = args.slice(0, Math.max(first, 0)).filter((arg) => !arg.startsWith('-'));
  return args.flatMap((name, index) =>
    NAME_TEST.test(args[index - 1] ?? '') && !leftOut(args, index - 1, index)
      ? (starts.length > 0 ? starts : ['.']).map((start): Operand => ({ access, value: joinPath(start, name), index: -1, indirect: true }))
      : [],
  );
}

/** Whether `find` turns away from what the test from `from` to `to` fits: `! -name x`, `-path x -prune -o …`, and groups of these. */
function leftOut(args: readonly string[], from: number, to: number): boolean {
  let out = false;
  let part = { from, to };
  for (let groups = 0; groups <= MAX_GROUPS; groups++) {
    let { from: start } = part;
    for (; NOT.test(args[start - 1] ?? ''); start--) out = !out;
    if (isPruned(args.slice(part.to + 1))) out = !out;
    const group = enclosing(args, start);
    if (group === null) return out;
    part = group;
  }
  return false;
}

/** What follows a test goes on to `-prune` and from there only to an alternative. */
function isPruned(rest: readonly string[]): boolean {
  const end = rest.findIndex((arg) => CHAIN_END.test(arg) || ACTION.test(arg));
  return /^-or?$/.test(rest[end] ?? '') && rest.slice(0, end).includes('-prune');
}

/** The nearest parentheses around a place. */
function enclosing(args: readonly string[], place: number): { from: number; to: number } | null {
  let depth = 0;
  let from = place - 1;
  for (; from >= 0; from--) {
    if (args[from] === ')') depth++;
    else if (args[from] === '(' && depth-- === 0) break;
  }
  if (from < 0) return null;
  depth = 0;
  for (let to = from; to < args.length; to++) {
    if (args[to] === '(') depth++;
    else if (args[to] === ')' && --depth === 0) return { from, to };
  }
  return null;
}
