import { type ActorSystem, type ActorSystemInfo, type AnyEventObject, fromPromise } from 'xstate';
import type { Port } from '../../machines/port.js';
import type { Services } from './services.js';

/**
 * What the ports of a session reach the world through, by actor system. Machines are assembled once for all sessions, so nothing
 * of a session may stand in their definitions or contexts.
 */
type System = ActorSystem<ActorSystemInfo>;

const servicesOf = new WeakMap<System, Services>();

export function bindServices(system: System, services: Services): void {
  servicesOf.set(system, services);
}

export function services(system: System): Services {
  const found = servicesOf.get(system);
  if (!found) throw new Error('This actor does not belong to a session.');
  return found;
}

export interface PortScope {
  readonly services: Services;
  /** Fires on an `abort` event (its `reason` is the AbortReason) and when the port's actor is stopped (reason `stopped`). */
  readonly signal: AbortSignal;
  /** Tells the machine that asked a fact before the answer: progress. */
  tell(event: AnyEventObject): void;
}

/**
 * A port that answers later. An `abort` event fires the signal and waits for the answer all the same. Like `fromPromise`, whose
 * snapshots and events it has, but with one signal instead of two: a call makes several of these.
 */
export function asyncPort<Input, Output>(run: (input: Input, scope: PortScope) => Promise<Output>): Port<Input, Output> {
  const controllers = new WeakMap<object, AbortController>();
  const logic = fromPromise<Output, Input>(() => Promise.reject(new Error('started by the port itself')));
  return {
    ...logic,
    transition: (snapshot, event, scope) => {
      if (event.type === 'abort') {
        controllers.get(scope.self)?.abort(event.reason);
        return snapshot;
      }
      if (event.type === 'xstate.stop') controllers.get(scope.self)?.abort('stopped');
      return logic.transition(snapshot, event, scope);
    },
    start: ({ status, input }, { self, system }) => {
      if (status !== 'active' || input === undefined) return;
      const controller = new AbortController();
      controllers.set(self, controller);
      const session = services(system);
      const answer = attempt(() =>
        run(input, { services: session, signal: controller.signal, tell: (event) => self._parent?.send(event) }),
      );
      session.provider?.watch(answer);
      const settle = (type: 'xstate.promise.resolve' | 'xstate.promise.reject', data: unknown): void => {
        if (self.getSnapshot().status === 'active') self.send({ type, data });
      };
      answer.then(
        (output) => settle('xstate.promise.resolve', output),
        (error: unknown) => settle('xstate.promise.reject', error),
      );
    },
  };
}

function attempt<Output>(ask: () => Promise<Output>): Promise<Output> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}
