import type { HeldState, Welcome } from '../../../../src/inspect/protocol/rpc.js';

export type LinkStatus = 'connecting' | 'live' | 'disconnected' | 'refused' | 'recording' | 'noLink';

/** What the runtime has told about itself, beside the events of the flow. */
export interface Remote extends Omit<Welcome, 'clientId' | 'header' | 'counters'> {
  readonly status: LinkStatus;
  readonly retryAt: number | null;
  readonly counters: Welcome['counters'] | null;
  readonly warnings: readonly string[];
  /** Short messages of what happened elsewhere or went wrong. The last is the newest. */
  readonly notices: readonly Notice[];
}
export interface Notice {
  readonly id: number;
  readonly tone: 'info' | 'error';
  readonly text: string;
  /** Another page that it speaks of. */
  readonly link: string | undefined;
}

export const notHeld: HeldState = { paused: false, why: null, held: [], frozenTimers: 0, resumesInMs: null };

/** Before anything was heard: may look at nothing and do nothing. */
export const firstRemote: Remote = {
  status: 'connecting',
  retryAt: null,
  scope: 'view',
  isRecorded: false,
  canPause: false,
  canAnswer: false,
  canRestart: false,
  held: notHeld,
  breakpoints: [],
  approvals: [],
  counters: null,
  warnings: [],
  notices: [],
};
