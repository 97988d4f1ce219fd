import type { AnyActorRef, StateMachine } from 'xstate';

// biome-ignore lint/suspicious/noExplicitAny: any machine at all; XState's own AnyStateMachine is this type
export type AnyMachine = StateMachine<any, any, any, any, any, any, any, any, any, any, any, any, any, any, any>;

export function asActor(ref: unknown): AnyActorRef | undefined {
  return isActorRef(ref) ? ref : undefined;
}
function isActorRef(ref: unknown): ref is AnyActorRef {
  return typeof ref === 'object' && ref !== null && 'sessionId' in ref && 'getSnapshot' in ref && 'id' in ref;
}
export function machineOf(ref: AnyActorRef): AnyMachine | null {
  const logic: unknown = 'logic' in ref ? ref.logic : undefined;
  return isMachine(logic) ? logic : null;
}
export function isMachine(logic: unknown): logic is AnyMachine {
  return typeof logic === 'object' && logic !== null && 'root' in logic && 'implementations' in logic;
}
export function optionOf(ref: AnyActorRef, name: 'input' | 'snapshot'): unknown {
  const options: unknown = 'options' in ref ? ref.options : undefined;
  return typeof options === 'object' && options !== null ? Object.getOwnPropertyDescriptor(options, name)?.value : undefined;
}
export function errorText(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return typeof error === 'string' ? error : 'an error that is no Error object';
}
