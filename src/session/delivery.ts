import type { Attachment } from '../messages/attachments.js';
import type { ContentBlockParam } from '../messages/types.js';
import type { InboxItem } from './inbox.js';
import type { Services } from './services.js';

/** Puts what waited beside the results of a running query: notifications, then the person's words. Each item exactly once. */
export function deliverBeside({ inbox, conversation }: Pick<Services, 'inbox' | 'conversation'>): void {
  for (const item of inOrder(inbox.takeAll())) conversation.addAttachment(attachmentOf(item));
}

/** Puts what a query was opened with into the conversation, as its prompt. */
export function deliverPrompt(items: readonly InboxItem[], { conversation }: Pick<Services, 'conversation'>): void {
  for (const item of inOrder(items)) {
    if (item.kind === 'prompt') conversation.addPrompt(item.content, item.id);
    else conversation.addAttachment(attachmentOf(item));
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
