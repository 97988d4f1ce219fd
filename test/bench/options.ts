import { parseArgs } from 'node:util';

export interface BenchOptions {
  readonly scenarios: readonly string[];
  readonly json: boolean;
  readonly quick: boolean;
  readonly peers: boolean;
  readonly write: boolean;
  readonly profile: boolean;
  readonly help: boolean;
}

export const USAGE = `npm run bench -- [scenario …] [options]

  --quick     little work and few rounds: does everything run?
  --peers     the AI SDK and LangGraph take part (installed on demand into test/bench/peers)
  --profile   where the processor time of a call goes
  --json      results as JSON
  --write     all scenarios with peers and profile, into docs/benchmarks.md`;

export function readOptions(args: readonly string[]): BenchOptions {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: flag, quick: flag, peers: flag, write: flag, profile: flag, help: flag },
  });
  const { write } = values;
  return { ...values, scenarios: positionals, peers: values.peers || write, profile: values.profile || write };
}
