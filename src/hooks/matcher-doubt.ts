import { BUILTIN_TOOL_NAMES } from '../permissions/toolNames.js';
import type { SubjectMatcher } from './matcher.js';

/** Why a tool matcher covers less than its author will have meant: a guard that never runs must not look like one. */
export function matcherDoubt(matcher: string, matches: SubjectMatcher): string | undefined {
  if (matcher !== '' && matcher.trim() === '')
    return 'A blank text matches no tool; leave "matcher" out, or write "*", to match every one.';
  const rule = /^([A-Z]\w*)\(.*\)$/s.exec(matcher);
  if (rule !== null)
    return `${JSON.stringify(matcher)} is a permission rule, not the name of a tool; write "matcher": "${rule[1]}", and "if": ${JSON.stringify(matcher)} on the handler.`;
  if (/^mcp__[A-Za-z0-9-]+$/.test(matcher))
    return `"${matcher}" is an exact name and matches no tool; for all tools of the server write "${matcher}__.*".`;
  for (const name of matcher.split(/[|,]/).map((part) => part.trim())) {
    const meant = BUILTIN_TOOL_NAMES.has(name)
      ? undefined
      : [...BUILTIN_TOOL_NAMES].find((tool) => tool.toLowerCase() === name.toLowerCase());
    if (meant !== undefined) return `"${name}" names no tool, since names are case-sensitive; write "${meant}".`;
  }
  const words = new Set(matcher.toLowerCase().split(/\W+/));
  const named = [...BUILTIN_TOOL_NAMES].filter((tool) => words.has(tool.toLowerCase()));
  if (named.length > 0 && !matcher.includes('mcp__') && ![...BUILTIN_TOOL_NAMES].some(matches))
    return `${JSON.stringify(matcher)} names ${named.join(', ')} and matches no built-in tool: it is read as a regular expression; write names like "Edit|Write", or "^(?!Read$)" for all but one.`;
  return undefined;
}
