import type { Attachment } from '../messages/attachments.js';
import type { ContentBlockParam } from '../messages/types.js';
import type { InboxItem } from './inbox.js';
import type { Services } from './services.js';

/** Puts what waited beside the results of a running query: notifications, then the person's words. Each item exactly once. */
export function deliverBeside({ inbox, conversation }: Pick<Services, 'inbox' | 'conversation'>): void {
  deliver(inOrder(inbox.takeAll()), inbox, (item) => conversation.addAttachment(attachmentOf(item)));
}

/** Puts what a query was opened with into the conversation, as its prompt. */
export function deliverPrompt(items: readonly InboxItem[], { inbox, conversation }: Pick<Services, 'inbox' | 'conversation'>): void {
  if (items.length > 0) conversation.abandonServerCalls();
  deliver(inOrder(items), inbox, (item) => {
    if (item.kind === 'prompt') conversation.addPrompt(item.content, item.id);
    else conversation.addAttachment(attachmentOf(item));
  });
}

/** What a query was opened with and did not get to say: a prompt that was held back is over, a notification goes on waiting. */
export function returnUndelivered(session: Services): void {
  const { opened = [] } = session;
  session.opened = undefined;
  for (const item of opened) if (item.kind === 'prompt') session.journal({ type: 'prompt.withdrawn', promptId: item.id });
  session.inbox.putBack(opened.filter((item) => item.kind === 'notification'));
}

/** Where the transcript takes nothing, the query ends with that error; notifications wait for the next one and are not lost. */
function deliver(items: readonly InboxItem[], inbox: Services['inbox'], put: (item: InboxItem) => void): void {
  for (const [n, item] of items.entries()) {
    try {
      put(item);
    } catch (error) {
      inbox.keep(items.slice(n).filter((item) => item.kind === 'notification'));
      throw error;
    }
  }
}

/** The words of a prompt, for hooks and for people. */
export const promptText = (items: readonly InboxItem[]): string =>
  items.flatMap((item) => (item.kind === 'prompt' ? [textOf(item.content)] : [])).join('\n');

function textOf(content: string | readonly ContentBlockParam[]): string {
  return typeof content === 'string' ? content : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

const inOrder = (items: readonly InboxItem[]): readonly InboxItem[] => [
  ...items.filter((item) => item.kind === 'notification'),
  ...items.filter((item) => item.kind === 'prompt'),
];

const attachmentOf = (item: InboxItem): Attachment =>
  item.kind === 'notification'
    ? { type: 'notification', id: item.id, text: item.text }
    : { type: 'queued_command', prompt: item.content, promptId: item.id };
