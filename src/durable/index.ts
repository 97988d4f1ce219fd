/**
 * `sixgates/restate`: sessions that outlive a process, on Restate.
 *
 * @packageDocumentation
 */

export { type ConnectOptions, connectSession, type RemoteSession } from './client.js';
export { inspectable, type Mirrored } from './mirror.js';
export type { NumberedUpdate } from './protocol.js';
export { type LocalRestate, type LocalRestateOptions, type RestatePorts, restateBinary, startLocalRestate } from './server.js';
export { registerWorker, serveSessions, type Worker, type WorkerOptions } from './worker.js';
export { serveSessionsFromProcesses, type WorkersOptions } from './workers.js';
