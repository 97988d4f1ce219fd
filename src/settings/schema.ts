import { z } from 'zod';
import { marketplaceSource } from './marketplaces.js';

const strings = z.array(z.string());
const flag = z.boolean();
const disable = z.literal('disable');
const serverRef = z.strictObject({
  serverName: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'letters, digits, _ and - only')
    .optional(),
  serverCommand: strings.optional(),
  serverUrl: z.string().optional(),
});
const statusLine = z.looseObject({ type: z.literal('command'), command: z.string() });

/** Names that `permissions.defaultMode` takes; `manual` is `default`, `delegate` has no meaning here and counts as `default`. */
export const MODE_NAMES = ['default', 'manual', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions', 'delegate'] as const;

const permissions = z.strictObject({
  allow: strings,
  ask: strings,
  deny: strings,
  additionalDirectories: strings,
  defaultMode: z.enum(MODE_NAMES),
  disableBypassPermissionsMode: disable,
  disableAutoMode: disable,
  blockReadsOutsideWorkingDirectories: flag,
});

const sandbox = z.looseObject({
  enabled: flag.optional(),
  failIfUnavailable: flag.optional(),
  autoAllowBashIfSandboxed: flag.optional(),
  allowUnsandboxedCommands: flag.optional(),
  excludedCommands: strings.optional(),
  filesystem: z
    .looseObject({
      allowRead: strings,
      allowWrite: strings,
      denyRead: strings,
      denyWrite: strings,
      disabled: flag,
      allowManagedReadPathsOnly: flag,
    })
    .partial()
    .optional(),
  network: z
    .looseObject({
      allowAllUnixSockets: flag,
      allowLocalBinding: flag,
      allowManagedDomainsOnly: flag,
      allowMachLookup: strings,
      allowUnixSockets: strings,
      allowedDomains: strings,
      deniedDomains: strings,
      httpProxyPort: z.number(),
      socksProxyPort: z.number(),
      strictAllowlist: flag,
      tlsTerminate: z.strictObject({ caCertPath: z.string().optional(), caKeyPath: z.string().optional() }),
    })
    .partial()
    .optional(),
  credentials: z
    .looseObject({
      allowPlaintextInject: flag,
      envVars: z.array(z.looseObject({ name: z.string(), mode: z.enum(['deny', 'mask']) })),
      files: z.array(z.looseObject({ path: z.string(), mode: z.literal('deny') })),
    })
    .partial()
    .optional(),
});

/** Names that `env` may set. */
export const ENV_NAME = /^[A-Z_][A-Z0-9_]*$/;
const env = z.record(z.string(), z.string()).superRefine((values, context) => {
  for (const name of Object.keys(values)) {
    if (!ENV_NAME.test(name))
      context.addIssue({ code: 'custom', path: [name], message: 'a variable name has capital letters, digits and _ only, no digit first' });
  }
});

const vimRemaps = z.record(z.string(), z.string()).superRefine((values, context) => {
  for (const keys of Object.keys(values)) {
    if ([...keys].length !== 2) context.addIssue({ code: 'custom', path: [keys], message: 'a remap is two keys long' });
  }
});

/**
 * The keys of a settings file (Claude Code docs, settings reference). Every key is optional; keys that are not listed are
 * left alone, for newer products. `hooks` is checked by the hook loader.
 */
export const settingsSchema = z
  .looseObject({
    $schema: z.string(),
    permissions: permissions.partial(),
    env,
    sandbox,
    model: z.string(),
    apiKeyHelper: z.string(),
    awsAuthRefresh: z.string(),
    awsCredentialExport: z.string(),
    otelHeadersHelper: z.string(),
    outputStyle: z.string(),
    language: z.string(),
    plansDirectory: z.string(),
    cleanupPeriodDays: z.number().min(0),
    disableAllHooks: flag,
    allowManagedHooksOnly: flag,
    allowManagedPermissionRulesOnly: flag,
    allowManagedMcpServersOnly: flag,
    allowedHttpHookUrls: strings,
    httpHookAllowedEnvVars: strings,
    allowedMcpServers: z.array(serverRef),
    deniedMcpServers: z.array(serverRef),
    enabledMcpjsonServers: strings,
    disabledMcpjsonServers: strings,
    enableAllProjectMcpServers: flag,
    includeCoAuthoredBy: flag,
    includeGitInstructions: flag,
    fastMode: flag,
    verbose: flag,
    respectGitignore: flag,
    alwaysThinkingEnabled: flag,
    autoCompactEnabled: flag,
    autoScrollEnabled: flag,
    autoMemoryEnabled: flag,
    fileCheckpointingEnabled: flag,
    disableWorkflows: flag,
    prefersReducedMotion: flag,
    spinnerTipsEnabled: flag,
    showTurnDuration: flag,
    availableModels: strings,
    fallbackModel: z.union([z.string(), strings]),
    companyAnnouncements: strings,
    disableAutoMode: disable,
    disableDeepLinkRegistration: disable,
    browserExternalPageTools: z.literal('disabled'),
    askUserQuestionTimeout: z.enum(['60s', '5m', '10m', 'never']),
    autoUpdatesChannel: z.enum(['stable', 'latest']),
    defaultShell: z.enum(['bash', 'powershell']),
    diffTool: z.enum(['terminal', 'auto']),
    editorMode: z.enum(['normal', 'vim']),
    effortLevel: z.enum(['low', 'medium', 'high', 'xhigh', 'max']),
    forceLoginMethod: z.enum(['claudeai', 'console', 'gateway']),
    parentSettingsBehavior: z.enum(['first-wins', 'merge']),
    preferredNotifChannel: z.enum(['auto', 'iterm2', 'iterm2_with_bell', 'terminal_bell', 'kitty', 'ghostty', 'notifications_disabled']),
    skillOverrides: z.record(z.string(), z.enum(['on', 'off', 'user-invocable-only', 'name-only'])),
    spinnerVerbs: z.strictObject({ mode: z.enum(['append', 'replace']), verbs: strings }),
    statusLine,
    subagentStatusLine: statusLine,
    teammateMode: z.enum(['auto', 'in-process', 'tmux', 'iterm2']),
    theme: z.union([
      z.enum(['auto', 'dark', 'light', 'dark-daltonized', 'light-daltonized', 'dark-ansi', 'light-ansi']),
      z.string().regex(/^custom:/, 'a theme of its own is written custom:name'),
    ]),
    tui: z.enum(['default', 'fullscreen']),
    viewMode: z.enum(['default', 'focus', 'verbose']),
    vimInsertModeRemaps: vimRemaps,
    voice: z.looseObject({ enabled: flag.optional(), autoSubmit: flag.optional(), mode: z.enum(['hold', 'tap']).optional() }),
    workflowSizeGuideline: z.enum(['unrestricted', 'small', 'medium', 'large']),
    worktree: z.looseObject({
      baseRef: z.enum(['fresh', 'head']).optional(),
      bgIsolation: z.enum(['worktree', 'none']).optional(),
      sparsePaths: strings.optional(),
      symlinkDirectories: strings.optional(),
    }),
    extraKnownMarketplaces: z.record(z.string(), z.looseObject({ source: marketplaceSource })),
    strictKnownMarketplaces: z.array(marketplaceSource),
    blockedMarketplaces: z.array(marketplaceSource),
    enabledPlugins: z.record(z.string(), z.unknown()),
  })
  .partial();

/** Top-level keys that carry meaning for this runtime: a near miss of one of them is worth a warning. */
export const KEYS_OF_CONSEQUENCE = [
  'permissions',
  'hooks',
  'env',
  'disableAllHooks',
  'allowManagedPermissionRulesOnly',
  'allowManagedHooksOnly',
] as const;

/** The keys below `permissions`. */
export const PERMISSION_KEYS: ReadonlySet<string> = new Set(Object.keys(permissions.shape));

/** All keys that the schema knows, for telling a new key from a misspelled one. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([...Object.keys(settingsSchema.shape), 'hooks']);
