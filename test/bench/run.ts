import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeEnvironment } from './environment.js';
import { type Entrant, exchangesOf, type Lab, startAgent, startServerProcess } from './lab.js';
import { markdownReport } from './markdown.js';
import { readOptions } from './options.js';
import { profileCalls } from './profile/profileCalls.js';
import { profileSection } from './profile/profileText.js';
import { selectScenarios } from './scenarios/index.js';
import type { Section } from './section.js';
import { sectionText } from './text.js';

/** The compiled bench: `node run.js <root of the checkout> [arguments of npm run bench]`. */
const [, , root = '', ...args] = process.argv;
const options = readOptions(args);
const dir = dirname(fileURLToPath(import.meta.url));
const peerFiles: readonly Entrant[] = [
  { name: 'AI SDK', file: join(root, 'test/bench/peers/aiSdk.mjs') },
  { name: 'LangGraph', file: join(root, 'test/bench/peers/langGraph.mjs') },
];

const cacheDir = join(root, 'node_modules/.cache/sixgates-bench');
const server = await startServerProcess(dir);
const lab: Lab = {
  quick: options.quick,
  peers: options.peers ? peerFiles : [],
  start: (entrant) => startAgent(entrant, { dir, serverURL: server.url }),
  exchanges: () => exchangesOf(server.url),
};
const say = (text: string): void => {
  if (!options.json) console.log(text);
};
try {
  if (options.write && options.scenarios.length > 0) throw new Error('--write needs all scenarios: leave their names out.');
  const environment = describeEnvironment(root, options.peers);
  say(environment.map(([name, value]) => `${name}: ${value}`).join('\n'));
  const sections: Section[] = [];
  const onlyProfile = options.profile && !options.write && options.scenarios.length === 0;
  for (const scenario of onlyProfile ? [] : selectScenarios(options.scenarios)) {
    const section = await scenario.run(lab);
    sections.push(section);
    say(`\n${sectionText(section)}`);
  }
  const profiles = options.profile ? await profileCalls(lab, cacheDir) : [];
  for (const profile of profiles) say(`\n${profileSection(profile)}`);
  if (options.json) console.log(JSON.stringify({ environment: Object.fromEntries(environment), sections, profiles }, null, 2));
  if (options.write) {
    const file = join(root, 'docs/benchmarks.md');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdownReport({ environment, sections, profiles, command: `npm run bench -- ${args.join(' ')}` }));
    say(`\nwritten to ${file}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  server.stop();
}
