import { z } from 'zod';
import { buildTool } from '../tool/build.js';

const todoSchema = z.strictObject({
  content: z.string().min(1).describe('What is to be done, as an order: "Run the tests"'),
  status: z.enum(['pending', 'in_progress', 'completed']),
  activeForm: z.string().min(1).describe('The same while it is being done: "Running the tests"'),
});
const inputSchema = z.strictObject({ todos: z.array(todoSchema).max(200).describe('The whole list; it replaces the one before') });
export type Todo = z.output<typeof todoSchema>;

export interface TodosChanged {
  readonly oldTodos: readonly Todo[];
  readonly newTodos: readonly Todo[];
}

/** Keeps a session's list of things to do. The list lives in the tool, by session. */
export function todoWriteTool() {
  const lists = new Map<string, readonly Todo[]>();
  return buildTool({
    name: 'TodoWrite',
    description: 'Keep the list of things to do',
    prompt:
      'Replaces the list of things to do in this session. Use it for work of three steps or more; keep exactly one item in_progress while working and mark items completed as soon as they are.',
    inputSchema,
    searchHint: 'todo task list plan progress',
    isDestructive: () => false,
    idempotent: true,
    checkPermissions: () => ({ behavior: 'allow', reason: "It changes only the session's own list." }),
    async call({ todos }, context) {
      const oldTodos = lists.get(context.sessionId) ?? [];
      lists.set(context.sessionId, todos);
      const output: TodosChanged = { oldTodos, newTodos: todos };
      return { data: output };
    },
    mapToolResultToToolResultBlockParam({ newTodos }) {
      const done = newTodos.filter(({ status }) => status === 'completed').length;
      return { content: `The list was updated: ${done} of ${newTodos.length} items completed.` };
    },
    renderToolUseMessage: ({ todos }) => ({ title: 'To do', body: todos.map(line).join('\n'), format: 'markdown' }),
    renderToolResultMessage: ({ newTodos }) => ({ title: 'To do', body: newTodos.map(line).join('\n'), format: 'markdown' }),
  });
}

function line({ content, status }: Todo): string {
  return `- [${status === 'completed' ? 'x' : ' '}] ${status === 'in_progress' ? `**${content}**` : content}`;
}
