import { open } from 'node:fs/promises';
import { z } from 'zod';
import { tailWithin } from '../results/text.js';
import { buildTool } from '../tool/build.js';
import { messageOf, ToolFailure, throwIfAborted } from '../tool/errors.js';
import type { BackgroundTaskInfo, ToolContext } from '../tool/types.js';
import { taskOf } from './task-stop.js';

const inputSchema = z.strictObject({
  task_id: z.string().min(1).describe('Id of the background task'),
  block: z.boolean().default(true).describe('Wait until the task has ended, or the timeout'),
  timeout: z.number().nonnegative().max(600_000).default(30_000).describe('Milliseconds to wait at most'),
});

export interface TaskOutput {
  readonly task: BackgroundTaskInfo;
  readonly output: string;
  /** True when the file holds more than `output`. */
  readonly truncated: boolean;
}

/** Shows a background task's state and the end of its output. */
export function taskOutputTool() {
  return buildTool({
    name: 'TaskOutput',
    aliases: ['BashOutput', 'AgentOutput'],
    description: 'Show the state and output of a background task',
    prompt:
      "Shows a background task's state and the end of its output, waiting for it to end if block is set. Reading the output file with Read does the same without waiting.",
    inputSchema,
    searchHint: 'background task output status wait',
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    isDestructive: () => false,
    idempotent: true,
    shouldDefer: true,
    interruptBehavior: 'cancel',
    timeoutMs: ({ timeout }) => timeout + 10_000,
    async call({ task_id, block, timeout }, context) {
      const { tasks, task } = taskOf(task_id, context);
      let now = task;
      if (block && task.status === 'running') {
        const limit = AbortSignal.any([context.signal, AbortSignal.timeout(timeout)]);
        now = await tasks.settled(task_id, limit).catch(() => tasks.get(task_id) ?? task);
        throwIfAborted(context.signal);
      }
      const end = await endOfFile(now.outputFile, maxChars(context));
      const output: TaskOutput = { task: now, ...end };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam: ({ task, output, truncated }) => ({
      content: [
        `Task ${task.id} (${task.title}): ${task.status}${task.exitCode === undefined || task.exitCode === null ? '' : `, exit code ${task.exitCode}`}`,
        ...(truncated ? [`[only the end is shown; the whole output is in ${task.outputFile}]`] : []),
        output === '' ? '(no output yet)' : output,
      ].join('\n'),
    }),
    renderToolUseMessage: ({ task_id }) => ({ title: `Output of ${task_id}` }),
    renderToolResultMessage: ({ task, output }) => ({ title: `${task.title}: ${task.status}`, body: output }),
  });
}

function maxChars(context: ToolContext): number {
  const configured = Number(context.env.TASK_MAX_OUTPUT_LENGTH);
  return Number.isInteger(configured) && configured > 0 ? Math.min(configured, 160_000) : 32_000;
}

async function endOfFile(file: string, limit: number): Promise<{ readonly output: string; readonly truncated: boolean }> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return { output: '', truncated: false };
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - limit * 4);
    const bytes = Buffer.alloc(Math.min(size, limit * 4));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    const text = bytes.toString('utf8', 0, bytesRead);
    const output = tailWithin(text, limit);
    return { output, truncated: start > 0 || output.length < text.length };
  } catch (error) {
    throw new ToolFailure(`${file} cannot be read: ${messageOf(error)}`);
  } finally {
    await handle.close();
  }
}
