import { dirname, join } from 'node:path';
import type { Subject } from 'rxjs';
import type { McpServers } from '../mcp/servers.js';
import type { ResumeState } from '../messages/resume.js';
import type { Transcript } from '../messages/transcript.js';
import { systemClock } from '../model/clock.js';
import { answerWithCanUseTool } from '../permissions/canUseTool.js';
import { createResultStore } from '../results/index.js';
import { SessionTasks } from '../tasks/tasks.js';
import { findTool } from '../tool/index.js';
import { createFileLedger } from '../tools/fs/ledger.js';
import { AgentSessions } from './agentSessions.js';
import { agentTools, createAgentLauncher } from './agents.js';
import { CallBook } from './callBook.js';
import { Conversation } from './conversation.js';
import { forwardQuestions } from './forwarding.js';
import { Inbox } from './inbox.js';
import { createLifecycle } from './lifecycle.js';
import { queryLimits, sessionLimits } from './limits.js';
import type { AgentIdentity, Family, Lineage } from './lineage.js';
import { modelServices } from './modelServices.js';
import type { SessionOptions } from './options.js';
import { createSessionPermissions } from './permissions.js';
import { createPromptQueue } from './promptQueue.js';
import { restoredCwd, restoreInbox, restoreMode, takeUp } from './restore.js';
import type { Services } from './services.js';
import { createSessionActor, type SessionActor, settling } from './sessionActor.js';
import { createSessionHooks } from './sessionHooks.js';
import { createSessionTools, sessionServers } from './sessionTools.js';
import { addSpend, countUsage, sumUsage, unpricedBudget } from './spend.js';
import { openStore } from './store.js';
import { compactHistory } from './summarize.js';
import { readSurroundings } from './surroundings.js';
import { tellingHooks } from './tellingHooks.js';
import { forgivingJournal, writeEntry, writtenBefore } from './transcriptLog.js';
import { createUpdateStream } from './updateStream.js';
import type { SessionUpdate } from './updates.js';

export interface AssembledSession {
  readonly actor: SessionActor;
  readonly services: Services;
  readonly servers: McpServers;
  readonly updates: Subject<SessionUpdate>;
  readonly transcript: Transcript;
  readonly warnings: readonly string[];
  /** `session.started`, once it has been said. */
  firstWords(): readonly SessionUpdate[];
  /** Resolves when the session is closed or its actor has broken. */
  readonly settled: Promise<void>;
}

/** How a session came to be, for SessionStart hooks (Claude Code docs, hooks). */
export type SessionSource = 'startup' | 'resume' | 'fork';

/** Puts other services in place of those of this process, before the session's actor starts. Called for each of its subagents as well. */
export type Adapt = (services: Services) => void;

/** Wires machines, ports and stores into one running session; with a lineage, into a subagent's. */
export function assembleSession(
  options: SessionOptions,
  lineage?: Lineage,
  source: SessionSource = options.resume === undefined ? 'startup' : 'resume',
  adapt?: Adapt,
): AssembledSession {
  const { sessionId, cwd, home, projectDir, env, now, newId, settings, found, toolNames } = readSurroundings(options, lineage);
  const { transcript, resultsDir, resumed, dataDir } = openStore(options, { cwd, sessionId, now, newId, env, lineage });
  const { updates, update, firstWords } = createUpdateStream(options.onUpdate);
  const journal = forgivingJournal(transcript, (message) => update({ type: 'notice', level: 'error', message }));
  const inbox = new Inbox((waiting, fromPerson) => actor.send({ type: 'inbox.changed', waiting, fromPerson }));
  const canAsk = options.interactive === true || options.canUseTool !== undefined;
  // A subagent works with the servers of its parent: their tools are among those it was given.
  const sources = lineage ? { servers: [], warnings: [] } : sessionServers(options, { settings, cwd, env });
  const serverNames = sources.servers.map(({ name }) => name);
  const permissions =
    lineage?.parent.permissions ??
    createSessionPermissions({
      settings,
      cwd,
      home,
      resultsDir,
      toolNames,
      canAsk,
      opaque: options.opaque ?? 'strict',
      hasClassifier: options.classifier !== undefined,
      hasPermissionRequestHooks: (toolName) => hooks.isConfigured('PermissionRequest', toolName),
      mcpServers: serverNames,
      onChange: () => {},
    });
  const tools = createSessionTools({
    session: { ...options, tools: [...agentTools(options, found.agents), ...(options.tools ?? [])] },
    sources,
    cwd,
    env,
    clock: options.clock ?? systemClock,
    resultsDir,
    loadedBefore: resumed?.loadedTools ?? [],
    hidden: (tool) => permissions.isHidden(tool.name, tool.mcp),
    onLoaded: (loaded) => journal({ type: 'tools.loaded', tools: loaded.map((tool) => ({ ...tool })) }),
    update,
  });
  const { toolbox, servers } = tools;
  const family: Family = lineage?.family ?? {
    rootId: sessionId,
    running: 0,
    spend: { tokens: 0, usd: 0 },
    envFile: join(dirname(resultsDir), 'env.sh'),
    servers,
  };
  restoreMode(resumed, permissions, options, settings);
  let mode = permissions.mode;
  const forgetPermissions = permissions.onChange(() => {
    toolbox.invalidate();
    if (permissions.mode === mode) return;
    mode = permissions.mode;
    if (!lineage) journal({ type: 'session.state', patch: { mode } });
  });
  const resumption = takeUp(transcript, resumed, canAsk, (name) => findTool(toolbox.pool(), name)?.idempotent === true);
  const model = modelServices(options, env, lineage?.parent.model.client);
  const { hooks, issues: hookIssues } = createSessionHooks({
    session: options,
    lineage,
    family,
    settings,
    sessionId,
    transcriptPath: transcript.path ?? '',
    projectDir,
    home,
    env,
    toolNames,
    mcpServers: serverNames,
    permissionMode: () => permissions.mode,
    model,
    toolbox,
    services: () => services,
  });
  const queue = createPromptQueue({ journal, update, send: (event) => actor.send(event) });
  const capabilities: Services['capabilities'] = {};
  const services: Services = {
    sessionId,
    model,
    limits: sessionLimits(options.limits ?? {}, env),
    // A pause holds the time limits of tools as well.
    clock: options.clock ?? options.gate?.clock ?? systemClock,
    now,
    newId,
    env,
    permissions,
    hooks,
    conversation: new Conversation(
      (entry) => writeEntry(entry, transcript),
      resumption?.messages ?? resumed?.messages ?? [],
      writtenBefore(transcript),
    ),
    inbox,
    queue,
    questions: lineage ? forwardQuestions(lineage.parent.questions, lineage.agent.id, agentTitle(lineage.agent)) : queue,
    tasks: new SessionTasks({
      now,
      newId,
      journal,
      update,
      notify: (text, id) => services.notify(text, id),
      nextNotification: (signal) => inbox.nextNotification(signal),
      spawn: (task) => actor.send({ type: 'task.adopted', task }),
      askToStop: (taskId) => actor.send({ type: 'task.stopAsked', taskId }),
    }),
    results: createResultStore(resultsDir),
    resultsDir,
    envFile: family.envFile,
    files: createFileLedger(),
    capabilities,
    agent: lineage?.agent,
    spend: family.spend,
    resumption,
    compactionWish: undefined,
    failedCompactions: 0,
    calls: new CallBook(),
    decide:
      options.canUseTool &&
      answerWithCanUseTool(options.canUseTool, (message) => update({ type: 'notice', level: 'warning', message }), lineage?.agent.id),
    classify: options.classifier,
    canAsk: () => lineage?.parent.canAsk() ?? canAsk,
    agentName: options.agentName,
    agentSessions: new AgentSessions(),
    cwd: restoredCwd(resumed, cwd),
    runningQuery: undefined,
    opened: undefined,
    promptContext: [],
    answering: undefined,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, requests: 0 },
    contextTokens: 0,
    pool: () => toolbox.pool(),
    shownTools: () => toolbox.shown(),
    toolDefinitions: () => toolbox.definitions(services.conversation.messages),
    offerOf: (tool) => toolbox.offer(tool),
    isToolGone: (name) => toolbox.isGone(name),
    announceTools: () => {
      for (const text of tools.announcements(services.conversation.messages))
        services.conversation.addAttachment({ type: 'reminder', text });
    },
    loadTools: (names) => {
      const loaded = toolbox.load(names);
      if (loaded.length > 0) journal({ type: 'tools.loaded', tools: loaded.map((tool) => ({ ...tool })) });
    },
    update,
    journal,
    runHooks: tellingHooks(hooks, update),
    notify: (text, id = newId()) => {
      if (text.trim() === '') throw new Error('A notification needs a text.');
      journal({ type: 'notification.enqueued', notificationId: id, text });
      inbox.put({ kind: 'notification', id, text });
      return id;
    },
    spendOn: (usage) => {
      services.usage = countUsage(services.usage, usage);
      addSpend(family.spend, usage, services.model.id, options.prices ?? {});
    },
    addUsage: (usage) => {
      services.usage = sumUsage(services.usage, usage);
    },
    summarize: async (trigger, signal) => {
      const wish = services.compactionWish;
      services.compactionWish = undefined;
      return compactHistory(services, transcript, trigger, signal, trigger === 'manual' ? wish : undefined);
    },
    lifecycle: createLifecycle({
      services: () => services,
      hooks,
      transcript,
      source,
      warnings: () => warnings,
      servers,
      startServers: () => tools.start(),
      release: forgetPermissions,
    }),
  };
  const agents = createAgentLauncher({
    session: services,
    options,
    lineage: { depth: (lineage?.depth ?? 0) + 1, family, projectDir, settings, definitions: found.agents, parent: services },
    dataDir,
    assemble: (childOptions, childLineage) => assembleSession(childOptions, childLineage, 'startup', adapt),
    abort: (reason) => actor.send({ type: 'abort', reason }),
  });
  Object.assign(capabilities, { tasks: services.tasks, agents, toolSearch: tools.search, ...options.capabilities });

  // What a subagent shares with its parent has been told there.
  const shared = [
    ...settings.warnings,
    ...found.warnings,
    ...hookIssues.filter((message) => !settings.warnings.some((warning) => warning.includes(message))),
    ...permissions.warnings,
    ...unpricedBudget(services.model.id, options.prices ?? {}, options.limits?.maxBudgetUsd),
  ];
  const warnings = [
    ...(lineage ? [] : shared),
    ...tools.warnings,
    ...(transcript.loaded?.problems ?? []).map(({ text }) => `transcript ${transcript.path}: ${text}`),
  ];
  const actor = createSessionActor(services, options.gate, {
    limits: queryLimits(options.limits ?? {}, env),
    queriesBefore: countPrompts(resumed),
  });
  adapt?.(services);
  const settled = settling(actor, services, updates);
  void settled.then(() => servers.close());
  if (lineage) {
    const agentEnded = lineage.parent.agentSessions.begin({
      id: lineage.agent.id,
      type: lineage.agent.type,
      callId: lineage.callId,
      actor,
      updates$: updates,
      get mode() {
        return services.permissions.mode;
      },
      onAgent: (listener) => services.agentSessions.listen(listener),
    });
    void settled.then(agentEnded);
  }
  actor.start();
  restoreInbox(resumed, services);
  return { actor, services, servers, updates, transcript, warnings, settled, firstWords };
}

const countPrompts = (resumed: ResumeState | undefined): number =>
  resumed ? resumed.messages.filter((message) => message.role === 'user').length : 0;

const agentTitle = ({ type, description }: AgentIdentity): string => `${type} (${description})`;
