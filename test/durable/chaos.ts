/* `npm run chaos:restate -- [flows] [seed] [kill every ms]`: the crash test at full length. Half way the server itself is killed as well. */
import { judge, runFlows, whileKilling } from './support/run.js';
import { createStage } from './support/stage.js';

const [flows = 200, seed = 20_260_731, everyMs = 1_500] = process.argv.slice(2).map(Number);

const stage = await createStage({ toolMs: 300 });
const since = Date.now();
const seconds = () => Math.round((Date.now() - since) / 1000);
const seeds = Array.from({ length: flows }, (_, n) => seed + n);
let restarting = Promise.resolve();
const all = runFlows(stage, seeds, 25, (ended) => {
  if (ended === Math.ceil(flows / 2)) restarting = stage.restartServer();
  if (ended % 20 === 0) console.log(`${ended} flows have ended after ${seconds()} s`);
});
const { value: runs, kills } = await whileKilling(stage, seed, { everyMs }, all);
await restarting;
const facts = await stage.facts();
const { faults, ...counts } = judge(runs, facts);
console.log({ seed, flows: runs.length, kills, requests: facts.requests, ...counts, faults: faults.length, seconds: seconds() });
for (const fault of faults.slice(0, 20)) console.log(fault);
await stage.close();
process.exitCode = faults.length === 0 ? 0 : 1;
