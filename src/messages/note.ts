/** What was done to a block or message. `deferred`: sent later than it stood; `changed`: sent in another form. */
export type NoteCode =
  | 'set_aside'
  | 'orphan_result'
  | 'duplicate_result'
  | 'duplicate_call'
  | 'synthetic_result'
  | 'synthetic_message'
  | 'discarded_message'
  | 'deferred'
  | 'changed';

/** Something a repair did: a block that is not sent, one that was made up, or one that was changed to be acceptable. */
export interface Note {
  /** What was done. */
  readonly code: NoteCode;
  /** One sentence for a person. */
  readonly text: string;
  /** The tool call concerned. */
  readonly id?: string;
  /** The block as it was, when it is not sent. */
  readonly block?: { readonly type: string; readonly [key: string]: unknown };
}
