/** Lines of transcripts as Claude Code writes them, made for tests. */

type Entry = Readonly<Record<string, unknown>>;

let made = 0;
/** A fresh uuid; only equality matters. */
export const newUuid = (): string => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`;

const T0 = Date.UTC(2026, 10, 30, 9, 0, 0);
export const at = (seconds: number): string => new Date(T0 + seconds * 1000).toISOString();

interface Common {
  readonly s?: number;
  readonly parent?: string | null;
  readonly more?: Entry;
}

const line = (type: string, message: Entry, { s, parent = null, more = {} }: Common): Entry => ({
  parentUuid: parent,
  isSidechain: false,
  sessionId: 'session-1',
  cwd: '/work',
  version: '2.1.0',
  type,
  message,
  uuid: newUuid(),
  ...(s === undefined ? {} : { timestamp: at(s) }),
  ...more,
});

export const user = (content: unknown, common: Common = {}): Entry => line('user', { role: 'user', content }, common);
export const answer = (messageId: string, block: Entry, common: Common = {}): Entry =>
  line(
    'assistant',
    {
      id: messageId,
      type: 'message',
      role: 'assistant',
      model: 'claude-test-1',
      content: [block],
      stop_reason: null,
      usage: { input_tokens: 10, output_tokens: 5 },
    },
    common,
  );
export const text = (words: string): Entry => ({ type: 'text', text: words });
export const toolUse = (id: string, name: string, input: unknown = {}): Entry => ({ type: 'tool_use', id, name, input });
export const toolResult = (id: string, content: unknown, isError?: boolean): Entry => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...(isError === undefined ? {} : { is_error: isError }),
});
export const result = (id: string, content: unknown, common: Common & { readonly isError?: boolean } = {}): Entry =>
  user([toolResult(id, content, common.isError)], common);

export const jsonl = (entries: readonly (Entry | string)[]): Buffer =>
  Buffer.from(entries.map((entry) => `${typeof entry === 'string' ? entry : JSON.stringify(entry)}\n`).join(''));

/** The uuid of a line. */
export const idOf = (entry: Entry): string => String(entry.uuid);
