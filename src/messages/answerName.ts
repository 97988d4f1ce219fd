/** What names an answer. Ids of messages are not unique everywhere; two requests never have the same answer. */
export interface AnswerName {
  readonly messageId: string;
  readonly requestId?: string | undefined;
}

/** Whether two names may stand for one answer: the same message, and no two requests that say otherwise. */
export function isSameAnswer(a: AnswerName, b: AnswerName): boolean {
  return a.messageId === b.messageId && (a.requestId === undefined || b.requestId === undefined || a.requestId === b.requestId);
}

/** Names of answers, to be asked in one step however many answers share an id. */
export class AnswerNames {
  private readonly requests = new Map<string, Set<string | undefined>>();

  add({ messageId, requestId }: AnswerName): void {
    const known = this.requests.get(messageId);
    if (known === undefined) this.requests.set(messageId, new Set([requestId]));
    else known.add(requestId);
  }

  /** Whether one of them may stand for the same answer, as `isSameAnswer` has it. */
  has({ messageId, requestId }: AnswerName): boolean {
    const known = this.requests.get(messageId);
    return known !== undefined && (requestId === undefined || known.has(undefined) || known.has(requestId));
  }
}
