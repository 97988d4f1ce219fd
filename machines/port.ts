import {
  type EventObject,
  fromEventObservable,
  fromPromise,
  type NonReducibleUnknown,
  type ObservableActorLogic,
  type PromiseActorLogic,
} from 'xstate';

/**
 * A port: actor logic that a machine names and the world provides. Asked with plain JSON, it answers once, with plain JSON.
 * An `abort` event sent to it fires its signal; it still answers. The placeholder fails, so that a forgotten port is an error event, not silence.
 */
export type Port<Input, Output> = PromiseActorLogic<Output, Input>;

export function port<Input, Output>(name: string): Port<Input, Output> {
  return fromPromise<Output, Input>(() => Promise.reject(new Error(`The port "${name}" has not been provided.`)));
}

/** A port that answers with many events, one after another: the model's stream. The placeholder fails when subscribed to. */
export function eventPort<Event extends EventObject, Input extends NonReducibleUnknown>(name: string): EventPort<Event, Input> {
  return fromEventObservable<Event, Input>(() => ({
    subscribe: () => {
      throw new Error(`The port "${name}" has not been provided.`);
    },
  }));
}
/** A port that answers with many events, one after another. The placeholder fails when subscribed to. */
export type EventPort<Event extends EventObject, Input extends NonReducibleUnknown> = ObservableActorLogic<Event, Input>;
