import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectorySync } from '../makeDirectory.js';
import { createMemoryTranscript, openTranscript, type Transcript } from '../messages/transcript.js';
import type { AbortReason } from '../tool/call.js';
import { ToolFailure } from '../tool/errors.js';
import type { AgentLauncher, AgentRequest, AgentResult, AgentUsage, AnyTool, RunningAgent } from '../tool/types.js';
import { agentTool } from '../tools/agent.js';
import type { AgentDefinition } from './agentDefinitions.js';
import { toolsForAgent } from './agentTools.js';
import type { AssembledSession } from './assemble.js';
import { agentLimits } from './limits.js';
import type { AgentIdentity, Lineage } from './lineage.js';
import type { SessionOptions } from './options.js';
import { type QueryEnded, send } from './sending.js';
import type { Services } from './services.js';
import type { SessionUpdate } from './updates.js';

/** An agent's own tools get less time to obey an abort than the call that waits for the agent. */
const GRACE_SHARE = 0.7;

export interface LauncherOptions {
  readonly session: Services;
  /** What the session itself was made with. */
  readonly options: SessionOptions;
  readonly lineage: Omit<Lineage, 'agent' | 'callId' | 'resultsDir'>;
  /** Where transcripts are kept; undefined for a session in memory. */
  readonly dataDir: string | undefined;
  readonly assemble: (options: SessionOptions, lineage: Lineage) => AssembledSession;
  /** Aborts the query of the session that the agents work for. */
  readonly abort: (reason: AbortReason) => void;
}

/**
 * Starts subagents. An agent is a session of its own: other history, other transcript, chosen tools. It shares what must not get looser:
 * the permission engine with its rules and mode, the prompt queue, the budget. Only its last words come back.
 */
export function createAgentLauncher(launcher: LauncherOptions): AgentLauncher {
  const { definitions } = launcher.lineage;
  return {
    types: definitions.map(({ name, description }) => ({ name, description })),
    start: (request) => start(request, launcher),
  };
}

/** The Agent tool belongs to a session: its text names the agents there are. */
export function agentTools({ builtInTools = true }: SessionOptions, agents: readonly AgentDefinition[]): readonly AnyTool[] {
  const isOffered = typeof builtInTools === 'boolean' ? builtInTools : builtInTools.includes('Agent');
  return isOffered ? [agentTool({ types: agents })] : [];
}

function start(request: AgentRequest, launcher: LauncherOptions): RunningAgent {
  const { session, options, lineage } = launcher;
  const { family } = lineage;
  const definition = definitionOf(request, lineage.definitions);
  const { maxDepth, maxRunning } = agentLimits(session.env);
  if (lineage.depth > maxDepth) throw new ToolFailure(`Subagent depth limit reached: agents may start agents ${maxDepth} deep.`);
  if (family.running >= maxRunning)
    throw new ToolFailure(`Concurrent subagent limit reached (${maxRunning}). Wait until one has ended, then start this one.`);
  const tools = toolsForAgent(definition, session.pool());
  if (tools.length === 0) {
    const wanted = definition.tools?.join(', ') ?? 'all';
    throw new ToolFailure(`The agent ${definition.name} was not started: none of its tools (${wanted}) is available here.`);
  }

  const id = session.newId();
  const transcript = openAgentTranscript(id, launcher);
  const agent: AgentIdentity = {
    id,
    type: definition.name,
    description: request.description,
    transcriptPath: transcript.path ?? null,
  };
  const watch = new Watch(agent, request, session);
  const child = launcher.assemble(
    {
      ...options,
      model: {
        id: modelFor(request.model ?? definition.model, session),
        maxTokens: session.model.maxTokens,
        system: definition.prompt,
        betas: session.model.betas,
        retry: session.model.retry,
        ...(session.model.thinking === undefined ? {} : { thinking: session.model.thinking }),
      },
      cwd: session.cwd,
      tools,
      builtInTools: false,
      limits: { ...options.limits, graceMs: session.limits.graceMs * GRACE_SHARE },
      agentName: definition.name,
      transcript,
      onUpdate: (update) => watch.see(update),
    },
    { ...lineage, agent, callId: request.callId, resultsDir: join(session.resultsDir, `agent-${id}`) },
  );
  writeMeta(agent, request, transcript, session.agent?.id ?? null, child.services.model.id);
  family.running++;
  const result = drive(child, request, watch, launcher).finally(() => {
    family.running--;
  });
  return { agentId: id, transcriptPath: agent.transcriptPath, result };
}

/** Runs an agent's one prompt to its end and closes its session: everything it started has ended when this settles. */
async function drive(child: AssembledSession, request: AgentRequest, watch: Watch, launcher: LauncherOptions): Promise<AgentResult> {
  const { actor, services, updates, settled } = child;
  const { signal } = request;
  const began = services.now();
  const stop = () => {
    const isAsking = actor.getSnapshot().matches({ conversation: 'querying' });
    actor.send(isAsking ? { type: 'abort', reason: reasonOf(signal) } : { type: 'session.close' });
  };
  const sending = send(request.prompt, services, updates);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  const ended = await Promise.race([sending.done.catch(() => undefined), settled.then(() => undefined)]);
  signal.removeEventListener('abort', stop);

  const cut = services.tasks.list().filter((task) => task.status === 'running');
  actor.send({ type: 'session.close' });
  await settled;
  actor.stop();
  updates.complete();
  launcher.session.addUsage(services.usage);
  // A person who stops an agent's work means the work it belongs to as well.
  if (ended?.reason === 'permissionRejected' && request.background !== true) launcher.abort('permissionRejected');
  const outcome = outcomeOf(ended, signal);
  const note = cut.length === 0 ? '' : `\n\n(Stopped with the agent: ${cut.map(({ id, title }) => `${id} ${title}`).join(', ')}.)`;
  return {
    agentId: watch.agent.id,
    toolCalls: watch.toolCalls,
    durationMs: services.now() - began,
    usage: agentUsage(services),
    ...outcome,
    text: outcome.text + note,
  };
}

function agentUsage({ usage }: Services): AgentUsage {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheCreationTokens,
  };
}

function outcomeOf(ended: QueryEnded | undefined, signal: AbortSignal): Pick<AgentResult, 'text' | 'isError' | 'aborted'> {
  const aborted = signal.aborted;
  if (ended === undefined) return { text: 'The agent was stopped before it began.', isError: true, aborted };
  const words = ended.text.trim();
  if (ended.end === 'completed') return { text: words || '(The agent ended without a last word.)', isError: false, aborted: false };
  const last = words === '' ? '' : `\n\nIts last words:\n${words}`;
  return { text: `The agent ended early (${ended.end}): ${ended.reason}${last}`, isError: true, aborted };
}

/** Passes an agent's updates on to its parent's listeners and counts its calls. What streams is left out: it is for the agent's own view. */
class Watch {
  toolCalls = 0;

  constructor(
    readonly agent: AgentIdentity,
    private readonly request: AgentRequest,
    private readonly parent: Services,
  ) {}

  see(update: SessionUpdate): void {
    if (update.type === 'agent.update') {
      this.parent.update(update);
      return;
    }
    if (STREAMING.has(update.type)) return;
    if (update.type === 'call.result') this.toolCalls++;
    if (update.type === 'call.input') this.request.onProgress({ message: `${update.tool}: ${update.title}` });
    this.parent.update({ type: 'agent.update', agentId: this.agent.id, callId: this.request.callId, update });
  }
}
const STREAMING: ReadonlySet<SessionUpdate['type']> = new Set([
  'text.delta',
  'thinking.delta',
  'input.delta',
  'calls.inProgress',
  'call.progress',
]);

function definitionOf({ subagentType = 'general-purpose' }: AgentRequest, definitions: readonly AgentDefinition[]): AgentDefinition {
  const found =
    definitions.find(({ name }) => name === subagentType) ??
    definitions.find(({ name }) => name.toLowerCase() === subagentType.toLowerCase());
  if (found) return found;
  throw new ToolFailure(`There is no agent ${subagentType}. There are: ${definitions.map(({ name }) => name).join(', ')}.`);
}

/** Aliases follow `ANTHROPIC_DEFAULT_<ALIAS>_MODEL` where it is set (Claude Code docs, model configuration), else the parent's model. */
function modelFor(wanted: string | undefined, { model, env }: Services): string {
  if (wanted === undefined || wanted === 'inherit') return model.id;
  if (!/^[a-z]+$/.test(wanted)) return wanted;
  return env[`ANTHROPIC_DEFAULT_${wanted.toUpperCase()}_MODEL`] ?? model.id;
}

function openAgentTranscript(agentId: string, { session, lineage, dataDir }: LauncherOptions): Transcript {
  const place = { cwd: lineage.projectDir, sessionId: lineage.family.rootId, agentId, now: session.now, ids: session.newId };
  return dataDir === undefined ? createMemoryTranscript(place) : openTranscript({ ...place, dataDir });
}

function writeMeta(agent: AgentIdentity, request: AgentRequest, { path }: Transcript, parentAgentId: string | null, model: string): void {
  if (path === undefined) return;
  const { id, type, description } = agent;
  const meta = { agentId: id, agentType: type, description, model, toolUseId: request.callId, parentAgentId };
  makeDirectorySync(dirname(path), 0o700);
  writeFileSync(path.replace(/\.jsonl$/, '.meta.json'), `${JSON.stringify(meta)}\n`, { mode: 0o600 });
}

const REASONS: ReadonlySet<unknown> = new Set<AbortReason>([
  'userInterrupt',
  'newMessage',
  'permissionRejected',
  'siblingError',
  'streamDiscarded',
  'timeout',
  'sessionClosed',
]);
const isReason = (reason: unknown): reason is AbortReason => REASONS.has(reason);
const reasonOf = ({ reason }: AbortSignal): AbortReason => (isReason(reason) ? reason : 'userInterrupt');
