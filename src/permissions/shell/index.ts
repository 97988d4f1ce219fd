export { analyzeCommand } from './analyze.js';
export { type Coverage, coverage } from './coverage.js';
export { matchesDenyOrAsk, mayMatchDenyOrAsk } from './deny.js';
export { type FileAccess, fileAccesses } from './files.js';
export { readOnlyReason } from './readonly.js';
export { criticalRemoval } from './removal.js';
export { bashRuleWarnings } from './ruleWarnings.js';
export { suggestRules } from './suggest.js';
export type { ShellAnalysis } from './types.js';
