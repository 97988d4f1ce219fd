import { Subject } from 'rxjs';
import { copyJson, isJsonObject } from '../json.js';
import { isLooseBlock } from '../messages/blocks.js';
import type { AssistantBlock, ToolResultBlockParam } from '../messages/types.js';
import { messageOf } from '../tool/errors.js';
import type { SessionUpdate } from './updates.js';

/** What a session tells, and to whom. */
export interface UpdateStream {
  readonly updates: Subject<SessionUpdate>;
  readonly update: (one: SessionUpdate) => void;
  /** `session.started`, once it has been said: for those who come later. */
  firstWords(): readonly SessionUpdate[];
}

export function createUpdateStream(onUpdate: ((update: SessionUpdate) => void) | undefined): UpdateStream {
  const updates = new Subject<SessionUpdate>();
  let firstWords: readonly SessionUpdate[] = [];
  return {
    updates,
    update: (given) => {
      const one = detached(given);
      if (one.type === 'session.started') firstWords = [one];
      try {
        onUpdate?.(one);
      } catch (error) {
        // Whoever listens must not change what happens. It is told to the others: telling the one that threw would go on for ever.
        updates.next({ type: 'notice', level: 'error', message: `onUpdate threw at ${one.type}: ${messageOf(error)}` });
      }
      updates.next(one);
    },
    firstWords: () => firstWords,
  };
}

/**
 * An update that shares no input, block or result with the session: a listener that blots out a secret for display must not change what
 * runs or what the model is sent.
 */
function detached(update: SessionUpdate): SessionUpdate {
  switch (update.type) {
    case 'block': {
      const block = copyOf(update.block);
      return isBlock(block) ? { ...update, block } : update;
    }
    case 'call.result': {
      const result = copyOf(update.result);
      return isResult(result) ? { ...update, result } : update;
    }
    case 'call.input':
      return { ...update, input: copyJson(update.input) };
    default:
      return update;
  }
}

const copyOf = (value: unknown): unknown => (isJsonObject(value) ? copyJson(value) : value);
const isBlock = (value: unknown): value is AssistantBlock => isLooseBlock(value);
const isResult = (value: unknown): value is ToolResultBlockParam => isLooseBlock(value) && value.type === 'tool_result';
