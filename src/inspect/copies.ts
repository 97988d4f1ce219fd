import type { FlowLog } from './flowLog.js';
import type { InspectionTarget } from './inspectable.js';
import type { RpcError } from './protocol/rpc.js';
import { type Restart, type RestartedSession, settledPoint } from './restart.js';

/** An inspector of a copy, as far as it is needed here. */
interface Attached {
  readonly url: string;
  readonly system: { readonly log: FlowLog };
  close(): Promise<void>;
}

/** Copies of a session that were gone on with from a step, each with an inspector of its own. */
export class Copies {
  readonly #made: { close(): Promise<void> }[] = [];

  constructor(
    readonly target: InspectionTarget,
    readonly log: FlowLog,
    readonly restart: Restart | undefined,
    readonly attach: (session: RestartedSession) => Promise<Attached>,
  ) {}

  get isPossible(): boolean {
    return this.restart !== undefined && this.#source() !== undefined;
  }

  readonly goOn = async (seq: number, words: string): Promise<{ readonly url: string } | RpcError> => {
    const { log, restart } = this;
    const source = this.#source();
    if (!restart || !source) return { code: 'unsupported', message: 'This flow has no transcript to go on from.' };
    const upTo = settledPoint(source.transcriptPath, log.events(0), seq);
    if (upTo === undefined) return { code: 'unsupported', message: 'Before this step no answer was settled that a copy could go on from.' };
    const session = await restart({ from: source.id, upTo });
    this.#made.push(session);
    const attached = await this.attach(session);
    this.#made.push(attached);
    session.send(words).done.catch((error: unknown) => {
      attached.system.log.put({ type: 'note', level: 'warning', text: `It did not go on: ${String(error)}` });
    });
    return { url: attached.url };
  };

  /** Ends the copies, inspectors before their sessions. */
  async close(): Promise<void> {
    for (const one of this.#made.splice(0).reverse()) await one.close();
  }

  /** The stored session that is looked at. */
  #source(): { readonly id: string; readonly transcriptPath: string } | undefined {
    const { target } = this;
    if (!('updates$' in target) || typeof target.transcriptPath !== 'string') return undefined;
    return { id: target.id, transcriptPath: target.transcriptPath };
  }
}
