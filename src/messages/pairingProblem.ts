/** What is wrong with a history, one code for each rule of the API. */
export type PairingProblemCode =
  | 'no_messages'
  | 'first_not_user'
  | 'bad_role'
  | 'roles_do_not_alternate'
  | 'misplaced_system_message'
  | 'trailing_assistant'
  | 'empty_content'
  | 'empty_text'
  | 'bad_block'
  | 'misplaced_block'
  | 'bad_tool_use'
  | 'duplicate_tool_use'
  | 'missing_result'
  | 'orphan_result'
  | 'duplicate_result'
  | 'result_for_server_tool'
  | 'results_not_first'
  | 'not_only_results'
  | 'server_tool_unanswered'
  | 'server_result_orphan'
  | 'unsigned_thinking'
  | 'trailing_thinking'
  | 'thinking_modified'
  | 'bad_image'
  | 'ill_formed_string';

/** One reason why the Messages API would refuse a request. */
export interface PairingProblem {
  /** Which rule is broken. */
  readonly code: PairingProblemCode;
  /** Index into `messages`. */
  readonly message: number;
  /** Index into the message's content, where one block is at fault. */
  readonly block?: number;
  /** The tool call concerned. */
  readonly id?: string;
  /** The sentence in the API's manner, beginning with the place (`messages.3.content.0: …`). */
  readonly text: string;
}

/** Collects problems; the place is prefixed to the text. */
export type Report = (
  code: PairingProblemCode,
  message: number,
  text: string,
  where?: { readonly block?: number; readonly id?: string },
) => void;
