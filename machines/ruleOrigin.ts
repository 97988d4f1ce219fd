import type { PermissionRule, RuleScope } from '../src/permissions/types.js';

const WORDS: Record<RuleScope, string> = {
  managed: 'the managed settings',
  cliArg: 'the command line',
  flagSettings: 'the settings given with --settings',
  localSettings: 'the local settings',
  projectSettings: 'the project settings',
  userSettings: 'the user settings',
  session: 'this session',
  option: 'the options given in code',
};

/** Where a rule stands: `/p/.claude/settings.json:4`, or words where no file holds it. */
export const ruleOrigin = ({ file, line, scope }: Pick<PermissionRule, 'file' | 'line' | 'scope'>): string => {
  if (file === undefined) return WORDS[scope];
  return line === undefined ? file : `${file}:${line}`;
};
