export { analyzeCommand } from './analyze.js';
export { type Coverage, type CoverageOptions, coverage } from './coverage.js';
export { acceptEditsCommand } from './edits.js';
export { type FileAccess, type FileAccessKind, fileAccesses } from './files.js';
export { readOnlyReason } from './readonly.js';
export { criticalRemoval, type RemovalContext } from './removal.js';
export { type BashRule, coversForAllow, matchesDenyOrAsk, mayMatchDenyOrAsk, parseBashRule } from './rules.js';
export { suggestRules } from './suggest.js';
export type { AnalyzeOptions, FileRedirect, OpaqueMode, OpaquePart, ShellAnalysis, ShellCommand, ShellWord } from './types.js';
