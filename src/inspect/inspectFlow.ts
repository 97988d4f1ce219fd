import type { ActorFacts, ActorNaming } from './actorNames.js';
import { ApprovalDesk } from './approvalDesk.js';
import { FlowLog, type FlowLogOptions } from './flowLog.js';
import { createFlowSink, type FlowSink } from './flowSink.js';
import type { DebugGate } from './gate/debugGate.js';
import type { Inspectable, InspectionTarget } from './inspectable.js';
import { sessionFeed } from './sessionFeed.js';
import { XStateAdapter } from './xstateAdapter.js';

/** What `inspectFlow` takes. */
export interface FlowOptions extends FlowLogOptions {
  /** Names actors that are the embedding program's own. Where it returns undefined, the built-in naming holds. */
  readonly nameActor?: (facts: ActorFacts) => ActorNaming | undefined;
  /** The gate the actor was created with. */
  readonly gate?: DebugGate;
}
/** A flow under inspection, without server: the log and what feeds it. */
export interface InspectedSystem {
  /** The account of the flow. */
  readonly log: FlowLog;
  /** Takes facts of the domain beside actors' transitions. */
  readonly sink: FlowSink;
  /** Questions that wait for a person. */
  readonly desk: ApprovalDesk;
  /** @internal */
  readonly adapter: XStateAdapter;
  /** The gate that can pause the flow; undefined where it was created without one. */
  readonly gate: DebugGate | undefined;
  /** Ends the account: no observer is left, and the flow goes on. */
  detach(): void;
}

/** Starts the account of a flow. Before this call, and after `detach`, inspection costs nothing: no observer is registered. */
export function inspectFlow(target: InspectionTarget, options: FlowOptions = {}): InspectedSystem {
  const { system, begin } = prepareFlow(target, options);
  begin();
  return system;
}

/** A flow whose account begins when it is told to: until then nothing is observed. */
export function prepareFlow(
  target: InspectionTarget,
  options: FlowOptions,
): { readonly system: InspectedSystem; readonly begin: () => void } {
  const inspectable: Inspectable = 'updates$' in target ? sessionFeed(target) : 'actor' in target ? target : { actor: target };
  const gate = options.gate ?? inspectable.gate;
  const log = new FlowLog({ ...(inspectable.name === undefined ? {} : { name: inspectable.name }), ...options });
  const adapter = new XStateAdapter(log, {
    ...(options.nameActor ? { nameActor: options.nameActor } : {}),
    ...(gate ? { gate } : {}),
  });
  const sink = createFlowSink(log);
  const desk = new ApprovalDesk(log);
  let stops: readonly ((() => void) | undefined)[] | undefined;
  const begin = (): void => {
    stops ??= [
      adapter.attach(inspectable.actor),
      gate?.watch({ log, pathOf: (ref) => adapter.pathOf(ref) }),
      inspectable.attachInspection?.({ sink, desk, attach: (root, host) => adapter.attach(root, host) }),
    ];
  };
  const detach = (): void => {
    for (const stop of stops ?? []) stop?.();
    stops = [];
  };
  return { begin, system: { log, sink, desk, adapter, gate, detach } };
}
