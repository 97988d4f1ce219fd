import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { loadSettings } from '../settings/load.js';
import { userPlace } from '../settings/place.js';
import { checkPolicy, describeReport, findPolicy, junitReport, loadPolicy, type Policy, plainReport } from '../testing/policy/index.js';
import { CliError, messageOf } from './failure.js';
import { refuseFaulty, writeNamed } from './files.js';
import { directoryOf } from './place.js';

const optionsSchema = z.object({
  settings: z.string().optional(),
  cwd: z.string().optional(),
  home: z.string().optional(),
  json: z.boolean().optional(),
  junit: z.string().optional(),
  coverage: z.string().optional(),
  failOn: z.enum(['hole', 'warning', 'note']).optional(),
  audit: z.boolean().optional(),
});
type CheckOptions = z.infer<typeof optionsSchema>;

/** `sixgates check`: settings against a policy, or, without one, what in them is probably not as meant. Exit code 1 for a finding, 2 for a check that could not be made. */
export function checkCommand(output: Writable = process.stdout, errors: Writable = process.stderr): Command {
  return new Command('check')
    .description('hold your settings against a policy; without one, look through them for holes')
    .argument('[policy]', 'a policy file: .ts, .mjs, .js or .json (default: sixgates.policy.* of the working directory)')
    .addOption(new Option('--settings <file>', "a settings file in place of the project's own"))
    .addOption(new Option('--cwd <dir>', 'working directory (default: that of the policy, else the current one)'))
    .addOption(new Option('--home <dir>', 'home directory (default: your own)'))
    .addOption(new Option('--json', 'print one JSON object'))
    .addOption(new Option('--junit <file>', 'also write a JUnit report'))
    .addOption(new Option('--coverage <file>', 'also write which states and transitions the paths reached'))
    .addOption(new Option('--fail-on <severity>', 'findings that fail the check (default: hole)').choices(['hole', 'warning', 'note']))
    .addOption(new Option('--no-audit', 'only the policy'))
    .addHelpText('after', '\nExit codes: 0 all holds, 1 a statement does not hold or a finding fails the check, 2 it could not be made.')
    .action(async (file: string | undefined, given: unknown) => {
      const options = optionsSchema.parse(given);
      try {
        const { model, ...report } = await checkPolicy(await policyFor(file, options));
        output.write(options.json === true ? `${JSON.stringify(plainReport(report), null, 2)}\n` : describeReport(report));
        if (options.junit !== undefined) writeNamed('--junit', options.junit, junitReport(report));
        if (options.coverage !== undefined) {
          if (model === null) errors.write(`--coverage ${options.coverage} was not written: without a policy no path is walked.\n`);
          else writeNamed('--coverage', options.coverage, `${JSON.stringify(model.coverage, null, 2)}\n`);
        }
        process.exitCode = report.ok ? 0 : 1;
      } catch (error) {
        errors.write(`sixgates check: ${messageOf(error)}\n`);
        process.exitCode = 2;
      }
    });
}

async function policyFor(file: string | undefined, options: CheckOptions): Promise<Policy> {
  if (options.cwd !== undefined) directoryOf('--cwd', options.cwd);
  if (options.home !== undefined) directoryOf('--home', options.home);
  if (file !== undefined && statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new CliError(`The policy ${resolve(file)} is a directory; name the file in it, or say --cwd ${file}.`);
  const found = file ?? findPolicy(resolve(options.cwd ?? '.'));
  const policy: Policy = found === undefined ? { properties: [], cwd: resolve(options.cwd ?? '.') } : await loadPolicy(found);
  const { settings, cwd, home, failOn, audit } = options;
  if (settings !== undefined) {
    const place = { cwd: resolve(cwd ?? policy.cwd ?? '.'), ...userPlace(home), projectFile: resolve(settings) };
    refuseFaulty('--settings', place.projectFile, loadSettings(place).problems);
  }
  return {
    ...policy,
    ...(settings === undefined ? {} : { settings: resolve(settings) }),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
    ...(home === undefined ? {} : { home: resolve(home) }),
    ...(failOn === undefined ? {} : { failOn }),
    ...(audit === false ? { audit: false } : {}),
  };
}
