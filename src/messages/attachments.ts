import { isJsonObject } from '../json.js';
import { blocksOf, type LooseBlock } from './blocks.js';
import { wrapReminder } from './reminder.js';

/** What rides beside the conversation: each becomes blocks of the next user message, behind its results. */
export type Attachment =
  /** Texts that hooks want the model to read. */
  | {
      readonly type: 'hook_additional_context';
      readonly hookName: string;
      readonly hookEvent?: string;
      readonly toolUseID?: string;
      readonly content: string[];
    }
  /** A fact that reaches the model later. One id is told once, however often it is written. */
  | { readonly type: 'notification'; readonly id: string; readonly text: string }
  /** What a person typed while a turn ran. `promptId` closes the queued prompt's journal entry. */
  | { readonly type: 'queued_command'; readonly prompt: string | readonly object[]; readonly promptId?: string }
  /** A word of the runtime itself (mode changes, tools that came or went). */
  | { readonly type: 'reminder'; readonly text: string };

/** Renders an attachment for the model. Kinds of other programs that are not known render as nothing. */
export function renderAttachment(attachment: { readonly type: string; readonly [key: string]: unknown }): readonly LooseBlock[] {
  const string = (key: string) => (typeof attachment[key] === 'string' ? attachment[key] : '');
  switch (attachment.type) {
    case 'hook_additional_context': {
      const texts = stringsOf(attachment.content);
      if (texts.length === 0) return [];
      return reminder(`${string('hookName') || string('hookEvent') || 'A'} hook additional context: ${texts.join('\n')}`);
    }
    case 'notification':
    case 'reminder':
      return string('text') === '' ? [] : reminder(string('text'));
    case 'queued_command':
      return blocksOf(attachment.prompt);
    default:
      return [];
  }
}

function reminder(text: string): readonly LooseBlock[] {
  return [{ type: 'text', text: wrapReminder(text) }];
}

function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (!Array.isArray(value)) return [];
  const list: readonly unknown[] = value;
  return list.flatMap((entry) => (typeof entry === 'string' && entry !== '' ? [entry] : []));
}

/** The queued prompt that an entry delivers, if it delivers one. */
export function deliveredPromptId(entry: { readonly type: string; readonly [key: string]: unknown }): string | undefined {
  const carrier = entry.type === 'attachment' && isJsonObject(entry.attachment) ? entry.attachment : entry;
  return typeof carrier.promptId === 'string' ? carrier.promptId : undefined;
}

/** The notification that an entry delivers, if it delivers one. */
export function deliveredNotificationId(entry: { readonly type: string; readonly [key: string]: unknown }): string | undefined {
  if (entry.type !== 'attachment' || !isJsonObject(entry.attachment) || entry.attachment.type !== 'notification') return undefined;
  return typeof entry.attachment.id === 'string' ? entry.attachment.id : undefined;
}
