import { UNKNOWN } from './types.js';

/** How a program that runs another program takes it: options with values, operands before it, assignments. */
export interface WrapperSpec {
  /** Short options that take a value, as letters. */
  readonly short?: string;
  /** Long options that take a value, without dashes. */
  readonly long?: readonly string[];
  /** Operands before the command: `timeout 5 cmd` has one. */
  readonly operands?: number;
  readonly assignments?: boolean;
  /** The first operand must be one of these for the program to run anything. */
  readonly subcommand?: RegExp;
}

/** A program of GNU, which has a `g` before its name where the system brings one of its own. */
const gnu = (name: string, spec: WrapperSpec): [string, WrapperSpec][] => [
  [name, spec],
  [`g${name}`, spec],
];

/** Programs that run the rest of their arguments as a command, as deny and ask rules see them. */
export const WRAPPERS: ReadonlyMap<string, WrapperSpec> = new Map<string, WrapperSpec>([
  [
    'sudo',
    {
      short: 'ugpCcDhrtTUR',
      long: ['user', 'group', 'prompt', 'chdir', 'host', 'role', 'type', 'close-from', 'other-user', 'chroot'],
      assignments: true,
    },
  ],
  ['doas', { short: 'uC' }],
  ...gnu('env', { short: 'uCS', long: ['unset', 'chdir'], assignments: true }),
  ...gnu('nice', { short: 'n', long: ['adjustment'] }),
  ['ionice', { short: 'cnpPu', long: ['class', 'classdata'] }],
  ...gnu('nohup', {}),
  ['setsid', {}],
  ...gnu('timeout', { short: 'ks', long: ['kill-after', 'signal'], operands: 1 }),
  ...gnu('time', { short: 'fo', long: ['format', 'output'] }),
  ...gnu('stdbuf', { short: 'ioe', long: ['input', 'output', 'error'] }),
  ['command', {}],
  ['builtin', {}],
  ['exec', { short: 'a' }],
  ['noglob', {}],
  ['nocorrect', {}],
  ['flock', { short: 'wE', long: ['timeout', 'wait', 'conflict-exit-code'], operands: 1 }],
  ['chroot', { long: ['userspec', 'groups'], operands: 1 }],
  ['unshare', {}],
  ['nsenter', { short: 'tSG' }],
  ['strace', { short: 'oepPsuaISXE' }],
  ['ltrace', { short: 'oepsunaA' }],
  ['taskset', { operands: 1 }],
  ['chrt', { short: 'TPD', operands: 1 }],
  ['numactl', { short: 'miNCpl' }],
  ['caffeinate', { short: 'tw' }],
  ['setpriv', {}],
  ['dbus-run-session', {}],
  ['xvfb-run', { short: 'efnpsw' }],
  ['systemd-run', { short: 'pEu' }],
  ['firejail', {}],
  ['unbuffer', {}],
  ['rlwrap', {}],
  ['torsocks', {}],
  ['proxychains', { short: 'f' }],
  ['proxychains4', { short: 'f' }],
  ['fakeroot', { short: 'lsib' }],
  ['faketime', { short: 'f', operands: 1 }],
  ['chpst', { short: 'ueobndtlLmpfcrP' }],
  ['direnv', { operands: 2, subcommand: /^(run|exec|x)$/ }],
  ['mise', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['devbox', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['poetry', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['pipenv', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['pdm', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['uv', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['bundle', { operands: 1, subcommand: /^(run|exec|x)$/ }],
  ['npx', { short: 'pc', long: ['package', 'call'] }],
  ['bunx', {}],
  ['pkexec', { long: ['user'] }],
  ['run0', { short: 'uCD', long: ['user', 'unit', 'property', 'description', 'slice', 'chdir', 'setenv', 'background'] }],
  ...['rbenv', 'pyenv', 'nodenv', 'asdf', 'jenv', 'mamba', 'micromamba', 'conda', 'volta', 'hatch', 'rye', 'pixi', 'aws-vault'].map(
    (name): [string, WrapperSpec] => [name, { short: 'np', long: ['name', 'prefix', 'cwd'], operands: 1, subcommand: /^(run|exec)$/ }],
  ),
  ['chronic', {}],
  ['bwrap', {}],
  ['dotenv', { short: 'ef' }],
  ['cross-env', { assignments: true }],
  ['catchsegv', {}],
  ['valgrind', {}],
  ['perf', { operands: 1, subcommand: /^(stat|record|trace)$/ }],
  ['entr', {}],
  [
    'xargs',
    {
      short: 'adEIiLlnPs',
      long: ['arg-file', 'delimiter', 'max-lines', 'max-args', 'max-procs', 'max-chars', 'replace', 'eof', 'process-slot-var'],
    },
  ],
  ['parallel', { short: 'jaISNnLPd', long: ['jobs', 'arg-file', 'max-args', 'delay', 'timeout', 'joblog', 'colsep', 'delimiter'] }],
]);

/** Wrappers that deny and ask rules of Claude Code look through as well. */
export const PLAIN_WRAPPERS: ReadonlySet<string> = new Set([
  'sudo',
  'doas',
  'env',
  'nice',
  'ionice',
  'nohup',
  'setsid',
  'timeout',
  'time',
  'stdbuf',
  'command',
  'builtin',
  'exec',
  'noglob',
  'watch',
]);

const MAX_STARTS = 12;

/**
 * Where in `args` the wrapped command may begin. An option that the spec does not know is read both ways, with and without a
 * value, so that no spelling hides a command.
 */
export function commandStarts(args: readonly string[], spec: WrapperSpec): number[] {
  const starts = new Set<number>();
  collect(0, spec.subcommand);
  return [...starts].filter((start) => start < args.length);

  function collect(from: number, subcommand?: RegExp): void {
    let i = from;
    for (; i < args.length && starts.size < MAX_STARTS; i++) {
      const arg = args[i] ?? '';
      if (arg === '--') {
        i++;
        break;
      }
      if (spec.assignments === true && /^[A-Za-z_]\w*\+?=/.test(arg)) continue;
      if (arg === UNKNOWN) {
        collect(i + 1, subcommand);
        break;
      }
      // `env -` is `env -i`.
      if (arg === '-') continue;
      if (!/^[-+]./.test(arg)) break;
      if (arg.startsWith('--')) {
        if (arg.includes('=')) continue;
        if (spec.long?.includes(arg.slice(2))) i++;
        else collect(i + 2, subcommand);
        continue;
      }
      const valued = [...arg.slice(1)].findIndex((letter) => spec.short?.includes(letter));
      if (valued === -1) {
        if (!/^-\d+$/.test(arg)) collect(i + 2, subcommand);
      } else if (valued === arg.length - 2) i++;
    }
    if (subcommand?.test(args[i] ?? '') === false) return;
    // What follows the options of a subcommand has no operands of its own left.
    const start = i + (spec.subcommand !== undefined && subcommand === undefined ? 0 : (spec.operands ?? 0));
    if (subcommand !== undefined && /^-./.test(args[start] ?? '') && args[start] !== '--') collect(start);
    else starts.add(start);
    if (args[start] === '--') starts.add(start + 1);
  }
}
