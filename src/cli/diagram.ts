import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Command, Option } from 'commander';
import type { AnyStateMachine } from 'xstate';
import { z } from 'zod';
import * as machines from '../../machines/index.js';
import { machineGraph } from '../inspect/protocol/graph.js';
import { toMermaid } from '../inspect/protocol/mermaid.js';
import { toMermaidWithCoverage } from '../testing/diagram/mermaid.js';
import { toSvg } from '../testing/diagram/svg.js';
import { COVERAGE_FORMAT, type MachineCoverage } from '../testing/explore/coverage.js';
import { closest } from '../tool/closest.js';
import { CliError, messageOf } from './failure.js';
import { writeNamed } from './files.js';

const optionsSchema = z.object({ format: z.enum(['mermaid', 'svg']), coverage: z.string().optional(), output: z.string().optional() });
const counts = z.record(z.string(), z.number());
const coverageSchema = z.object({
  format: z.literal(COVERAGE_FORMAT),
  machines: z.record(z.string(), z.object({ states: counts, transitions: counts })),
});

/** `sixgates diagram`: draws a machine of the library, or of a module; with a coverage file it paints what tests have reached. */
export function diagramCommand(output: Writable = process.stdout): Command {
  const own = Object.values(machines).filter(isMachine);
  return new Command('diagram')
    .description('draw a state machine, and what tests have reached of it')
    .argument(
      '<machine>',
      `${own.map(({ id }) => id).join(', ')}; or a module that exports machines: ./my-machine.mjs, ./my-machine.mjs#name`,
    )
    .addOption(new Option('--format <format>', 'what to write').choices(['mermaid', 'svg']).default('mermaid'))
    .addOption(new Option('--coverage <file>', 'a coverage file, as `sixgates check --coverage` and the test kit write it'))
    .addOption(new Option('-o, --output <file>', 'where to write it (default: standard output)'))
    .action(async (name: string, given: unknown) => {
      const options = optionsSchema.parse(given);
      const machine = own.find(({ id }) => id === name) ?? (await machineOf(name, own));
      const coverage = options.coverage === undefined ? undefined : coverageOf(options.coverage, machine.id);
      const text = draw(machine, options.format, coverage);
      if (options.output === undefined) output.write(text);
      else writeNamed('--output', options.output, text);
    });
}

function draw(machine: AnyStateMachine, format: 'mermaid' | 'svg', coverage: MachineCoverage | undefined): string {
  const graph = machineGraph(machine);
  if (format === 'svg') return toSvg(graph, coverage);
  return `${coverage === undefined ? toMermaid(graph) : toMermaidWithCoverage(graph, coverage)}\n`;
}

async function machineOf(name: string, own: readonly AnyStateMachine[]): Promise<AnyStateMachine> {
  if (!/[./\\]/.test(name)) {
    const near = closest(
      name,
      own.map(({ id }) => id),
    );
    throw new CliError(
      `There is no machine "${name}". ${near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `There are ${own.map(({ id }) => id).join(', ')}; for one of your own give its module: ./my-machine.mjs`}`,
    );
  }
  const [path = name, wanted] = name.split('#', 2);
  const file = resolve(path);
  let loaded: Record<string, unknown>;
  try {
    loaded = /\.m?ts$/.test(file) ? await importTypeScript(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    throw new CliError(`The module ${file} cannot be loaded: ${messageOf(error)}`);
  }
  const found = Object.entries(loaded).flatMap(([key, value]) =>
    isMachine(value) && (wanted === undefined || key === wanted || value.id === wanted) ? [value] : [],
  );
  const [first] = found;
  if (first === undefined) throw new CliError(`The module ${file} exports no ${wanted === undefined ? 'machine' : `machine "${wanted}"`}.`);
  if (new Set(found).size > 1)
    throw new CliError(`The module ${file} exports several machines; choose one: ${found.map(({ id }) => `${path}#${id}`).join(', ')}`);
  return first;
}

async function importTypeScript(file: string): Promise<Record<string, unknown>> {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { interopDefault: false }).import(file);
}

function coverageOf(file: string, machine: string): MachineCoverage {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CliError(`The coverage file ${file} cannot be read: ${messageOf(error)}`);
  }
  const parsed = coverageSchema.safeParse(value);
  if (!parsed.success) throw new CliError(`${file} is not a coverage file (${COVERAGE_FORMAT}).`);
  const own = parsed.data.machines[machine];
  if (own === undefined)
    throw new CliError(`${file} holds nothing about the machine ${machine}, but about ${Object.keys(parsed.data.machines).join(', ')}.`);
  return own;
}

const isMachine = (value: unknown): value is AnyStateMachine =>
  typeof value === 'object' && value !== null && 'root' in value && 'implementations' in value;
