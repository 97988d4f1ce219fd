import { chaos } from './chaos.js';

/*
 * `npm run chaos [moments] [seed]`: kills a session's process 500 times at random moments and resumes it each time. Prints what the run
 * came to; ends with 1 when something was lost, doubled, refused or run twice.
 */
const moments = Number(process.argv[2] ?? 500);
const seed = Number(process.argv[3] ?? 1);
if (!Number.isInteger(moments) || moments < 1 || !Number.isInteger(seed)) {
  process.stderr.write('usage: npm run chaos [moments] [seed]   (whole numbers)\n');
  process.exit(2);
}
const began = Date.now();
const findings = await chaos({
  moments,
  seed,
  withMcp: true,
  onMoment: (n) => {
    if (n % 10 === 0) process.stderr.write(`${n} of ${moments}\n`);
  },
});
const { problems, ...counts } = findings;
process.stdout.write(`${JSON.stringify({ moments, seed, seconds: Math.round((Date.now() - began) / 1000), ...counts })}\n`);
for (const problem of problems) process.stdout.write(`problem: ${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
