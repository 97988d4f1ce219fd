import { type ActorSystem, type ActorSystemInfo, type AnyEventObject, fromPromise, type PromiseSnapshot } from 'xstate';
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

/** A port that answers later. An `abort` event fires the signal and waits for the answer all the same. */
export function asyncPort<Input, Output>(run: (input: Input, scope: PortScope) => Promise<Output>): Port<Input, Output> {
  const controllers = new WeakMap<object, AbortController>();
  const logic = fromPromise<Output, Input>(({ input, system, self, signal }) => {
    const controller = new AbortController();
    controllers.set(self, controller);
    signal.addEventListener('abort', () => controller.abort('stopped'), { once: true });
    const session = services(system);
    const answer = run(input, { services: session, signal: controller.signal, tell: (event) => self._parent?.send(event) });
    session.provider?.watch(answer);
    return answer;
  });
  return {
    ...logic,
    transition: (snapshot, event, scope) => {
      if (event.type === 'abort') {
        controllers.get(scope.self)?.abort(event.reason);
        return snapshot;
      }
      return logic.transition(snapshot, event, scope);
    },
  };
}

/** A port that answers at once: nothing waits, so the machine moves on in the same step. */
export function syncPort<Input, Output>(run: (input: Input, services: Services) => Output): Port<Input, Output> {
  const settle = (input: Input, system: System): PromiseSnapshot<Output, Input> => {
    try {
      return { status: 'done', output: run(input, services(system)), error: undefined, input: undefined };
    } catch (error) {
      return { status: 'error', output: undefined, error, input: undefined };
    }
  };
  return {
    ...fromPromise<Output, Input>(() => Promise.reject(new Error('a synchronous port never starts'))),
    getInitialSnapshot: (scope, input) => settle(input, scope.system),
  };
}
