import { Subject } from 'rxjs';
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
    update: (one) => {
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
