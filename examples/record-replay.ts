/**
 * Record a flow, then use the recording twice: fold its events through today's machines (does every state come out the same?), and play
 * its conversation again with a scripted model and fake tools (do the same calls get the same results?). Neither needs a key.
 * Run it: `ANTHROPIC_API_KEY=… npx tsx examples/record-replay.ts`
 */
import { buildTool, createSession } from 'sixgates';
import { inspectFlow, startRecorder } from 'sixgates/inspect';
import { expectFlow, fromRecording, replayConversation } from 'sixgates/testing';
import { z } from 'zod';

const clock = buildTool({
  name: 'Clock',
  description: 'Tells the time.',
  inputSchema: z.strictObject({}),
  isReadOnly: () => true,
  call: async () => ({ data: 'half past nine' }),
});
const session = createSession({ tools: [clock], builtInTools: false, store: false, permissions: { allow: ['Clock'] } });

const file = process.argv[2] ?? 'clock.flow.jsonl.gz';
const flow = inspectFlow(session);
const recorder = startRecorder(flow.log, file);
await session.send('What time is it?').done;
await session.close();
flow.detach();
await recorder.close();

const { steps } = expectFlow(file).toReplay();
console.log(`${steps} steps come out as recorded`);

const { calls, differences } = await replayConversation(fromRecording(file));
console.log(`${calls.length} call played again, ${differences.length} differences`);
