/**
 * What the permission rules must know of tool names. Names are canonical and case-sensitive; an old name in a rule or a
 * call stands for its successor (Claude Code docs, permissions and tools reference).
 */
const SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ['Task', 'Agent'],
  ['KillShell', 'TaskStop'],
  ['KillBash', 'TaskStop'],
  ['BashOutput', 'TaskOutput'],
  ['BashOutputTool', 'TaskOutput'],
  ['AgentOutputTool', 'TaskOutput'],
]);

export const canonicalToolName = (name: string): string => SUCCESSORS.get(name) ?? name;

/** The names that a tool was called by before. */
export const formerToolNames = (name: string): readonly string[] =>
  [...SUCCESSORS].flatMap(([former, successor]) => (successor === name ? [former] : []));

/** Names that a rule may carry without a warning, besides MCP names and the tools of the session's pool. */
export const BUILTIN_TOOL_NAMES: ReadonlySet<string> = new Set(
  `Agent Artifact AskUserQuestion Bash Cd ClaudeDesign Config CronCreate CronDelete CronList Edit EndConversation EnterPlanMode EnterWorktree
  ExitPlanMode ExitWorktree Glob Grep LS LSP ListAgents ListMcpResourcesTool Monitor MultiEdit NotebookEdit NotebookRead PowerShell
  PushNotification Read ReadMcpResourceDirTool ReadMcpResourceTool ReportFindings ScheduleWakeup SendMessage SendUserFile SendUserMessage
  ShareOnboardingGuide Skill SlashCommand Sleep StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TeamCreate
  TeamDelete TodoRead TodoWrite ToolSearch WaitForMcpServers WebFetch WebSearch Workflow Write`.split(/\s+/),
);

/** Tools that need no rule: they touch nothing but the session (Claude Code docs, tools reference). */
export const TOOLS_WITHOUT_PERMISSION: ReadonlySet<string> = new Set(
  `Agent CronCreate CronDelete CronList EndConversation EnterPlanMode EnterWorktree ListAgents ListMcpResourcesTool ReadMcpResourceDirTool
  ReadMcpResourceTool ReportFindings ScheduleWakeup SendMessage Sleep StructuredOutput TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoRead
  TodoWrite ToolSearch WaitForMcpServers`.split(/\s+/),
);

/** Tools that only a person may answer. */
export const TOOLS_FOR_A_PERSON: ReadonlyMap<string, string> = new Map([
  ['AskUserQuestion', 'The question is for a person'],
  ['ExitPlanMode', 'A person must approve the plan'],
]);

export type PathAccess = 'read' | 'edit';

/** Tools whose calls name one file or directory, the field that names it, and whose rules govern it: Read(…) or Edit(…). */
export const PATH_TOOLS: ReadonlyMap<
  string,
  { readonly access: PathAccess; readonly fields: readonly string[]; readonly defaultsToCwd: boolean }
> = new Map([
  ['Read', { access: 'read', fields: ['file_path'], defaultsToCwd: false }],
  ['NotebookRead', { access: 'read', fields: ['notebook_path', 'file_path'], defaultsToCwd: false }],
  ['Glob', { access: 'read', fields: ['path'], defaultsToCwd: true }],
  ['Grep', { access: 'read', fields: ['path'], defaultsToCwd: true }],
  ['LS', { access: 'read', fields: ['path'], defaultsToCwd: true }],
  ['LSP', { access: 'read', fields: ['filePath', 'file_path', 'path'], defaultsToCwd: true }],
  ['Edit', { access: 'edit', fields: ['file_path'], defaultsToCwd: false }],
  ['MultiEdit', { access: 'edit', fields: ['file_path'], defaultsToCwd: false }],
  ['Write', { access: 'edit', fields: ['file_path'], defaultsToCwd: false }],
  ['NotebookEdit', { access: 'edit', fields: ['notebook_path', 'file_path'], defaultsToCwd: false }],
]);

/** Fields that `Tool(param:value)` refuses: each has a grammar of its own. */
export const PRIMARY_FIELDS: ReadonlySet<string> = new Set(['command', 'file_path', 'path', 'notebook_path', 'url']);

/**
 * Input fields of tools whose specifier has a grammar of its own, so that `Bash(timeout:6*)` speaks of a field and
 * `Bash(docker:*)` of a command. For every other tool any `name:value` speaks of a field.
 */
export const PARAM_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    Bash: ['command', 'timeout', 'description', 'run_in_background', 'dangerouslyDisableSandbox'],
    PowerShell: ['command', 'timeout', 'description', 'run_in_background', 'dangerouslyDisableSandbox'],
    Monitor: ['command', 'description', 'timeout_ms', 'persistent'],
    Cd: ['path'],
    Read: ['file_path', 'offset', 'limit', 'pages', 'allow_large'],
    Edit: ['file_path', 'old_string', 'new_string', 'replace_all'],
    WebFetch: ['url', 'prompt', 'offset'],
    Agent: ['prompt', 'description', 'subagent_type', 'model', 'effort', 'run_in_background', 'name', 'isolation', 'mode', 'team_name'],
    Skill: ['skill', 'args'],
  }).map(([tool, fields]) => [tool, new Set(fields)]),
);

/** Tools whose rules are written under another tool's name (Claude Code docs, permissions). */
export const GOVERNED_BY: ReadonlyMap<string, 'Read' | 'Edit'> = new Map([
  ['Write', 'Edit'],
  ['MultiEdit', 'Edit'],
  ['NotebookEdit', 'Edit'],
  ['NotebookRead', 'Read'],
  ['Glob', 'Read'],
  ['Grep', 'Read'],
  ['LS', 'Read'],
  ['LSP', 'Read'],
]);

/** Tools whose calls are shell text under Bash rules. */
export const BASH_TOOLS: ReadonlySet<string> = new Set(['Bash', 'Monitor']);
