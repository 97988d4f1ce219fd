import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<true>();

/**
 * Live work is what really touches the world: a request, a hook, a tool. It runs once; only its answer is written down. Nothing else
 * that it says may enter the session's deterministic part, since a session that is rebuilt would not hear it again.
 */
export const runLive = <T>(work: () => T): T => storage.run(true, work);
export const isLive = (): boolean => storage.getStore() === true;
