import { startBenchServer } from './server.js';

// The server lives in a process of its own, so that none of its work is counted as a contestant's.
const server = await startBenchServer();
process.send?.({ url: server.url });
process.on('disconnect', () => process.exit(0));
