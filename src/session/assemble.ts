import { randomUUID } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Subject } from 'rxjs';
import { type Actor, createActor } from 'xstate';
import { loadHooks } from '../hooks/config.js';
import { stopHookBlockCap } from '../hooks/limits.js';
import { createHookRunner } from '../hooks/runner.js';
import { defaultDataDir, toolResultsDir } from '../messages/paths.js';
import { type ResumeState, resumeState } from '../messages/resume.js';
import { createMemoryTranscript, openTranscript, type Transcript } from '../messages/transcript.js';
import { createAnthropicClient } from '../model/anthropic.js';
import { systemClock } from '../model/clock.js';
import { retryPolicyFrom } from '../model/retry.js';
import { createResultStore } from '../results/index.js';
import { loadSettings } from '../settings/load.js';
import { createFileLedger } from '../tools/fs/ledger.js';
import { CallBook } from './callBook.js';
import { Conversation } from './conversation.js';
import { Inbox } from './inbox.js';
import { sessionLimits, turnLimit } from './limits.js';
import { liveSession } from './live.js';
import type { ModelOptions, SessionOptions } from './options.js';
import { createSessionPermissions } from './permissions.js';
import { bindServices } from './port.js';
import { QuestionQueue } from './questions.js';
import type { Services } from './services.js';
import { createToolbox } from './toolbox.js';
import { writeEntry } from './transcriptLog.js';
import type { SessionUpdate } from './updates.js';

export interface AssembledSession {
  readonly actor: Actor<typeof liveSession>;
  readonly services: Services;
  readonly updates: Subject<SessionUpdate>;
  readonly transcript: Transcript;
  readonly warnings: readonly string[];
  /** `session.started`, once it has been said. */
  firstWords(): readonly SessionUpdate[];
  /** Resolves when the session is closed or its actor has broken. */
  readonly settled: Promise<void>;
}

/** Wires machines, ports and stores into one running session. */
export function assembleSession(options: SessionOptions): AssembledSession {
  const cwd = resolve(options.cwd ?? process.cwd());
  const home = resolve(options.settings?.home ?? homedir());
  const baseEnv = options.env ?? process.env;
  const now = options.now ?? Date.now;
  const newId = options.newId ?? randomUUID;
  const sessionId = options.resume ?? options.sessionId ?? newId();

  const settings = loadSettings({
    home,
    cwd,
    trusted: options.settings?.trusted ?? false,
    ...(options.settings?.file === undefined ? {} : { settingsFile: options.settings.file }),
    ...(options.permissions === undefined ? {} : { settings: { permissions: permissionSettings(options) } }),
    toolNames: (options.tools ?? []).map((tool) => tool.name),
  });
  const env = { ...baseEnv, ...settings.env };
  const { transcript, resultsDir, resumed } = openStore(options, { cwd, sessionId, now, newId, env });

  const updates = new Subject<SessionUpdate>();
  let firstWords: readonly SessionUpdate[] = [];
  const update = (one: SessionUpdate): void => {
    if (one.type === 'session.started') firstWords = [one];
    options.onUpdate?.(one);
    updates.next(one);
  };
  const journal: Services['journal'] = (entry) => {
    transcript.append(entry);
  };
  const inbox = new Inbox((waiting, fromPerson) => actor.send({ type: 'inbox.changed', waiting, fromPerson }));
  const permissions = createSessionPermissions({
    settings,
    cwd,
    home,
    resultsDir,
    toolNames: (options.tools ?? []).map((tool) => tool.name),
    canAsk: options.interactive === true || options.decide !== undefined,
    hasClassifier: options.classifier !== undefined,
    hasPermissionRequestHooks: (toolName) => hooks.isConfigured('PermissionRequest', toolName),
    onChange: () => toolbox.invalidate(),
  });
  const toolbox = createToolbox(options, (name) => permissions.isHidden(name), resumed?.loadedTools.map((tool) => tool.name) ?? []);
  const hookConfig = loadHooks(settings.files, options.hooks);
  const hooks = createHookRunner({
    config: hookConfig,
    context: {
      sessionId,
      transcriptPath: transcript.path ?? '',
      cwd: () => services.cwd,
      projectDir: cwd,
      permissionMode: () => permissions.mode,
      env,
      ...(options.agentName === undefined ? {} : { agentType: options.agentName }),
    },
    ports: {
      onAsyncResult: ({ additionalContext, wake }) => {
        for (const text of [...additionalContext, ...(wake ? [wake.reason] : [])]) inbox.put({ kind: 'notification', id: newId(), text });
      },
    },
  });

  const services: Services = {
    sessionId,
    model: modelServices(options, env),
    limits: sessionLimits(options.limits ?? {}, env),
    clock: options.clock ?? systemClock,
    now,
    newId,
    env,
    permissions,
    hooks,
    conversation: new Conversation((entry) => writeEntry(entry, transcript), resumed?.messages ?? []),
    inbox,
    questions: new QuestionQueue({
      permissionOpened: (prompt) => {
        const { callId, toolName, inputDigest, input } = prompt;
        journal({ type: 'permission.parked', callId, tool: toolName, input, inputDigest });
        actor.send({ type: 'question.opened', question: { callId, toolName, inputDigest } });
        update({ type: 'permission.requested', prompt });
      },
      permissionClosed: (callId, answer) => {
        journal({ type: 'permission.resolved', callId, behavior: answer.behavior });
        actor.send({ type: 'question.closed', callId });
        update({ type: 'permission.resolved', callId, behavior: answer.behavior, by: sourceText(answer.source) });
      },
      questionOpened: (prompt) => {
        actor.send({ type: 'question.opened', question: { callId: prompt.callId, toolName: 'AskUserQuestion', inputDigest: '' } });
        update({ type: 'question.asked', prompt });
      },
      questionClosed: (callId) => {
        actor.send({ type: 'question.closed', callId });
        update({ type: 'question.answered', callId });
      },
      withdrawn: (callId) => {
        actor.send({ type: 'question.closed', callId });
        update({ type: 'permission.withdrawn', callId });
      },
    }),
    results: createResultStore(resultsDir),
    resultsDir,
    files: createFileLedger(),
    capabilities: options.capabilities ?? {},
    calls: new CallBook(),
    decide: options.decide,
    classify: options.classifier,
    canAsk: () => options.interactive === true,
    agentName: options.agentName,
    cwd: resumed?.cwd ?? cwd,
    opened: undefined,
    promptContext: [],
    answering: undefined,
    usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0, requests: 0 },
    contextTokens: 0,
    pool: () => toolbox.pool(),
    shownTools: () => toolbox.shown(),
    loadTools: (names) => {
      toolbox.load(names);
      journal({ type: 'tools.loaded', tools: names.map((name) => ({ name })) });
    },
    update,
    journal,
    runHooks: async (request, signal) => {
      const toolUseId = request.toolUseId;
      const result = await hooks.run(request, {
        signal,
        onRun: (run) => update({ type: 'hook.run', ...(toolUseId === undefined ? {} : { callId: toolUseId }), run }),
      });
      for (const message of result.notices) update({ type: 'notice', level: 'warning', message });
      for (const message of result.systemMessages) update({ type: 'notice', level: 'info', message });
      return result;
    },
    summarize: async () => {},
    lifecycle: {
      start: async () => {
        update({
          type: 'session.started',
          sessionId,
          model: services.model.id,
          cwd: services.cwd,
          mode: permissions.mode,
          tools: toolbox.shown().map((tool) => tool.name),
          transcript: transcript.path ?? null,
          servers: [],
        });
        for (const message of warnings) update({ type: 'notice', level: 'warning', message });
        if (!hooks.isConfigured('SessionStart')) return;
        const source = options.resume === undefined ? 'startup' : 'resume';
        const request = {
          id: 'hook:SessionStart',
          event: 'SessionStart',
          subject: source,
          payload: { source, model: services.model.id },
        } as const;
        const { additionalContext } = await services.runHooks(request, new AbortController().signal);
        for (const text of additionalContext) services.promptContext = [...services.promptContext, text];
      },
      close: async () => {
        if (hooks.isConfigured('SessionEnd')) {
          const request = { id: 'hook:SessionEnd', event: 'SessionEnd', subject: 'other', payload: { reason: 'other' } } as const;
          await services.runHooks(request, new AbortController().signal);
        }
        await hooks.close();
        await services.results.flush();
        await transcript.flush();
        transcript.close();
        update({ type: 'session.ended', sessionId });
      },
    },
  };

  const warnings = [
    ...settings.warnings,
    ...hookConfig.issues.map((issue) => issue.message),
    ...permissions.warnings,
    ...toolbox.warnings,
    ...(transcript.loaded?.problems ?? []).map(({ text }) => `transcript ${transcript.path}: ${text}`),
  ];
  const limits = { maxTurns: turnLimit(options.limits ?? {}), maxStopRounds: stopRounds(options, env), maxPauses: 10 };
  const actor = createActor(liveSession, {
    id: `session:${sessionId}`,
    input: { sessionId, limits, queriesBefore: countPrompts(resumed) },
  });
  bindServices(actor.system, services);
  const settled = new Promise<void>((done) => {
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.matches({ conversation: 'closed' })) done();
      },
      error: (error) => {
        update({ type: 'notice', level: 'error', message: error instanceof Error ? error.message : String(error) });
        done();
      },
      complete: done,
    });
  });
  actor.start();
  for (const { id, text } of resumed?.undeliveredNotifications ?? []) inbox.put({ kind: 'notification', id, text });
  return { actor, services, updates, transcript, warnings, settled, firstWords: () => firstWords };
}

interface StorePlace {
  readonly cwd: string;
  readonly sessionId: string;
  readonly now: () => number;
  readonly newId: () => string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

function openStore(options: SessionOptions, { cwd, sessionId, now, newId, env }: StorePlace) {
  const common = { cwd, sessionId, now, ids: newId };
  if (options.store === false) {
    const resultsDir = join(tmpdir(), `sixgates-${sessionId}`, 'tool-results');
    return { transcript: options.transcript ?? createMemoryTranscript(common), resultsDir, resumed: undefined };
  }
  const dataDir = options.store ?? defaultDataDir(env);
  const transcript = options.transcript ?? openTranscript({ ...common, dataDir });
  const resultsDir = toolResultsDir(dataDir, cwd, sessionId);
  if (options.resume !== undefined && !transcript.loaded) {
    transcript.close();
    throw new Error(`There is no session ${sessionId} of ${cwd} under ${dataDir}. \`sixgates sessions\` lists what can be resumed.`);
  }
  const resumed = transcript.loaded ? resumeState(transcript.loaded) : undefined;
  for (const draft of resumed?.closing ?? []) transcript.append(draft);
  return { transcript, resultsDir, resumed };
}

function modelServices(options: SessionOptions, env: Services['env']): Services['model'] {
  const given: ModelOptions = typeof options.model === 'string' ? { id: options.model } : (options.model ?? {});
  const client = createAnthropicClient({ apiKey: given.apiKey, baseURL: given.baseURL, model: given.id, maxTokens: given.maxTokens, env });
  return {
    client: given.client ?? client,
    id: client.settings.model,
    maxTokens: client.settings.maxTokens,
    system: given.system,
    thinking: given.thinking,
    betas: given.betas ?? [],
    retry: { ...retryPolicyFrom(env), ...given.retry },
  };
}

function permissionSettings({ permissions = {} }: SessionOptions) {
  const { mode, ...rest } = permissions;
  return { ...rest, ...(mode === undefined ? {} : { defaultMode: mode }) };
}

/** Infinity is no JSON; 0 stands for it in the machine. */
function stopRounds({ limits }: SessionOptions, env: Services['env']): number {
  const cap = limits?.maxStopRounds ?? stopHookBlockCap(env);
  return Number.isFinite(cap) ? cap : 0;
}

const countPrompts = (resumed: ResumeState | undefined): number =>
  resumed ? resumed.messages.filter((message) => message.role === 'user').length : 0;

function sourceText(source: { readonly type: string; readonly hookName?: string; readonly surface?: string }): string {
  return source.hookName ?? source.surface ?? source.type;
}
