import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectory } from '../makeDirectory.js';
import { safeFileName } from '../results/store.js';
import { buildTool } from '../tool/build.js';
import { messageOf, ToolAbortedError, ToolFailure } from '../tool/errors.js';
import type {
  AgentLauncher,
  AgentResult,
  BackgroundTaskEnd,
  BackgroundTaskHandle,
  BackgroundTaskStart,
  BackgroundTasks,
  ToolContext,
} from '../tool/types.js';
import { isOn } from './bash/shell-environment.js';

const inputSchema = z.strictObject({
  description: z.string().min(1).describe('The task in three to five words'),
  prompt: z.string().min(1).describe('The task, complete in itself: the agent knows nothing of this conversation'),
  subagent_type: z.string().optional().describe('Which agent; default general-purpose'),
  model: z.string().optional().describe('Another model for this agent'),
  run_in_background: z.boolean().optional().describe('Answer at once; you are told when the agent has ended'),
});
type AgentInput = z.infer<typeof inputSchema>;

/** What hooks get as `tool_response` (Claude Code docs, hooks, "Agent"). */
const outputSchema = z.union([
  z.object({
    status: z.literal('completed'),
    agentId: z.string(),
    /** Its last words. */
    content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    isError: z.boolean().default(false),
    totalToolUseCount: z.number().default(0),
    totalDurationMs: z.number().optional(),
    totalTokens: z.number().optional(),
    usage: z.record(z.string(), z.number()).optional(),
  }),
  z.object({
    status: z.literal('async_launched'),
    agentId: z.string(),
    taskId: z.string(),
    description: z.string(),
    prompt: z.string(),
    outputFile: z.string(),
  }),
]);
export type AgentOutput = z.output<typeof outputSchema>;

/** Characters of an agent's last words that a notification carries; the whole text is in the output file. */
const SUMMARY_CHARS = 2_000;

/** Hands a task to a subagent: a session of its own, of which only the last words come back. */
export function agentTool({ types = [] }: { readonly types?: AgentLauncher['types'] } = {}) {
  return buildTool({
    name: 'Agent',
    aliases: ['Task'],
    description: 'Hand a task to a subagent',
    prompt: promptFor(types),
    inputSchema,
    outputSchema,
    searchHint: 'subagent delegate task explore parallel',
    // What the agent does passes the gates call by call; handing over a task changes nothing by itself.
    isReadOnly: () => true,
    isDestructive: () => false,
    isConcurrencySafe: () => true,
    interruptBehavior: 'block',
    timeoutMs: Number.POSITIVE_INFINITY,
    toAutoClassifierInput: (input) => input.prompt,
    async call(input, context, onProgress) {
      const output: AgentOutput =
        input.run_in_background === true && mayRunOn(context)
          ? inBackground(input, context)
          : await inForeground(input, context, onProgress);
      return { data: output };
    },
    mapToolResultToToolResultBlockParam: (output: AgentOutput) =>
      output.status === 'completed'
        ? { content: wordsOf(output.content), ...(output.isError ? { isError: true } : {}) }
        : {
            content: `Agent ${output.agentId} works in the background as task ${output.taskId}. You are told when it has ended; its last words then also stand in ${output.outputFile}`,
          },
    renderToolUseMessage: (input) => ({
      title: `${input.subagent_type ?? 'Agent'}: ${input.description}`,
      body: input.prompt,
      format: 'text',
    }),
    renderToolResultMessage: (output) =>
      output.status === 'completed'
        ? { title: `Agent (${output.totalToolUseCount} calls)`, body: wordsOf(output.content), format: 'markdown' }
        : { title: `Agent in the background: ${output.taskId}` },
  });
}

const wordsOf = (content: readonly { readonly text: string }[]): string => content.map(({ text }) => text).join('\n');

/** `CLAUDE_CODE_DISABLE_BACKGROUND_TASKS` keeps agents in the foreground (Claude Code docs, environment variables). */
function mayRunOn({ env, capabilities }: ToolContext): boolean {
  return capabilities.tasks !== undefined && !isOn(env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS);
}

async function inForeground(input: AgentInput, context: ToolContext, onProgress: Parameters<typeof start>[2]): Promise<AgentOutput> {
  const { result } = start(input, context, onProgress, context.signal);
  const { agentId, text, isError, aborted, toolCalls, durationMs, usage } = await result;
  if (aborted && context.signal.aborted) throw new ToolAbortedError(`The agent was stopped (${String(context.signal.reason)}).`, text);
  return {
    status: 'completed',
    agentId,
    content: [{ type: 'text', text }],
    isError,
    totalToolUseCount: toolCalls,
    ...(durationMs === undefined ? {} : { totalDurationMs: durationMs }),
    ...(usage === undefined ? {} : { totalTokens: Object.values(usage).reduce((sum, count) => sum + count, 0), usage: { ...usage } }),
  };
}

/** The agent outlives the call: TaskStop or the session's end stop it, an interrupt of the query does not. */
function inBackground(input: AgentInput, context: ToolContext): AgentOutput {
  const { tasks } = context.capabilities;
  if (tasks === undefined) throw new ToolFailure('This session has no background tasks.');
  const controller = new AbortController();
  const { agentId, result } = start(input, context, () => {}, controller.signal);
  const outputFile = path.join(context.resultsDir, `${safeFileName(context.callId)}.agent.md`);
  const handle = adopt(tasks, controller, {
    kind: 'agent',
    title: input.description,
    callId: context.callId,
    outputFile,
    done: result.then((end) => taskEnd(end, outputFile)),
    stop: () => controller.abort('userInterrupt'),
  });
  return { status: 'async_launched', agentId, taskId: handle.id, description: input.description, prompt: input.prompt, outputFile };
}

/** An agent that cannot be watched must not run on unseen. */
function adopt(tasks: BackgroundTasks, controller: AbortController, task: BackgroundTaskStart): BackgroundTaskHandle {
  try {
    return tasks.adopt(task);
  } catch (error) {
    controller.abort('userInterrupt');
    throw error;
  }
}

function start(
  input: AgentInput,
  context: ToolContext,
  onProgress: Parameters<AgentLauncher['start']>[0]['onProgress'],
  signal: AbortSignal,
) {
  const { agents } = context.capabilities;
  if (agents === undefined) throw new ToolFailure('This session cannot start agents.');
  return agents.start({
    callId: context.callId,
    description: input.description,
    prompt: input.prompt,
    ...(input.subagent_type === undefined ? {} : { subagentType: input.subagent_type }),
    ...(input.model === undefined ? {} : { model: input.model }),
    background: input.run_in_background === true,
    signal,
    onProgress,
  });
}

async function taskEnd({ text, isError, aborted }: AgentResult, outputFile: string): Promise<BackgroundTaskEnd> {
  let lost = '';
  try {
    await makeDirectory(path.dirname(outputFile), 0o700);
    await writeFile(outputFile, text, { mode: 0o600 });
  } catch (error) {
    lost = ` (the output file could not be written: ${messageOf(error)})`;
  }
  const clipped = text.length > SUMMARY_CHARS ? `${text.slice(0, SUMMARY_CHARS)}… (the whole text is in the output file)` : text;
  return { status: aborted ? 'killed' : isError ? 'failed' : 'completed', summary: clipped + lost };
}

function promptFor(types: AgentLauncher['types']): string {
  const list = types.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`);
  return [
    'Hands a task to a subagent, which works with tools of its own and answers with one message. Use it for work whose details you do not',
    'need to see: wide searches, tasks that stand by themselves. Several calls in one answer run at the same time.',
    ...(list.length === 0 ? [] : ['Agents:', ...list]),
  ].join('\n');
}
