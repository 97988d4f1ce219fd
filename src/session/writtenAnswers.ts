/**
 * The names under which answers are written down. Each answer gets one of its own, since gateways give the same id to every one, and lines
 * under one name are one answer to whoever reads them.
 */
export class WrittenAnswers {
  private readonly names: Set<string>;
  /** The answer that is being written down. */
  private current: { readonly messageId: string; readonly name: string } | undefined;

  constructor(before: Iterable<string>) {
    this.names = new Set(before);
  }

  /** The name of the answer to which the API gave this id; the same one until `end`. */
  nameOf(messageId: string): string {
    if (this.current?.messageId === messageId) return this.current.name;
    const given = messageId === '' ? 'unnamed' : messageId;
    let name = given;
    for (let n = 2; this.names.has(name); n++) name = `${given}_${n}`;
    this.names.add(name);
    this.current = { messageId, name };
    return name;
  }

  /** What comes next is another answer, whatever its id. */
  end(): void {
    this.current = undefined;
  }
}
