import type { Breakpoint } from '../protocol/rpc.js';

export function matchesEvent(breakpoint: Breakpoint, event: string): boolean {
  if (breakpoint.on !== 'event') return false;
  return breakpoint.event.endsWith('*') ? event.startsWith(breakpoint.event.slice(0, -1)) : event === breakpoint.event;
}

export function entersState(breakpoint: Breakpoint, states: readonly string[]): boolean {
  return breakpoint.on === 'state' && states.includes(breakpoint.state);
}

/** True for the actor itself and everything under it. */
export function isBelow(actor: string, ancestor: string): boolean {
  return actor === ancestor || actor.startsWith(`${ancestor}/`);
}
