/** What every contestant is given. */
export interface ContestantSetup {
  readonly baseURL: string;
  /** Which way of running it is measured, where it has several. */
  readonly variant: string;
  /** The body of the only tool. Every contestant calls it once for every tool call, with the validated input. */
  readonly look: (path: string) => Promise<string>;
}

/** One conversation of a contestant: `send` resolves when the model has said its last word. */
export interface Conversation {
  send(prompt: string): Promise<void>;
  close(): Promise<void>;
  /** The history as it would be sent; where the contestant keeps one. */
  readonly history?: () => readonly unknown[];
}

export interface Contestant {
  open(): Promise<Conversation>;
}

/** A module in this folder, or one of the peers', exports this. */
export interface ContestantModule {
  createContestant(setup: ContestantSetup): Promise<Contestant> | Contestant;
}

export function assertContestantModule(module: unknown): asserts module is ContestantModule {
  if (typeof module === 'object' && module !== null && 'createContestant' in module && typeof module.createContestant === 'function')
    return;
  throw new Error('A contestant module exports createContestant().');
}

export const LOOK_DESCRIPTION = 'Looks at one line of a file.';
