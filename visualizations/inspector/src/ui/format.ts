/** Milliseconds in as few characters as still tell: `0.4 ms`, `12 ms`, `3.2 s`, `4 min 05`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '–';
  if (ms < 1) return ms === 0 ? '0 ms' : '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.floor((ms % 60_000) / 1000);
  if (minutes < 60) return `${minutes} min ${String(seconds).padStart(2, '0')}`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')}`;
}

/** A moment of the flow: `0.000`, `12.408`, `3:07.120`. */
export function moment(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const seconds = ((ms % 60_000) / 1000).toFixed(3);
  return minutes > 0 ? `${minutes}:${seconds.padStart(6, '0')}` : seconds;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const numbers = new Intl.NumberFormat('en');
export const count = (value: number): string => numbers.format(value);
export const plural = (value: number, one: string, many = `${one}s`): string => `${count(value)} ${value === 1 ? one : many}`;

/** The last segment of a state's id: `toolCall.executing.deciding` → `deciding`. */
export const stateKey = (id: string): string => id.slice(id.lastIndexOf('.') + 1);
/** A state without the name of its machine: `executing.deciding`. */
export const statePath = (id: string): string => {
  const dot = id.indexOf('.');
  return dot < 0 ? id : id.slice(dot + 1);
};
/** The last segment of an actor's path. */
export const actorKey = (id: string): string => id.slice(id.lastIndexOf('/') + 1);

/** `checkingDenyRule` → `deny rule`; `waitingForPerson` → `waiting for person`. */
export function words(camel: string): string {
  const text = camel.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return text.startsWith('checking ') ? text.slice('checking '.length) : text;
}
