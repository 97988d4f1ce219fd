import type { Derived, Stdin } from './derive.js';
import { opaque, optionScripts, remoteShell, scriptOf } from './scripts.js';
import { parseSed, sedRuns } from './sed.js';
import { INTERPRETERS, interpreted, interpreterOf, SHELLS, shell, sourced } from './shells.js';
import { UNKNOWN } from './types.js';

/** What a program runs that is known for running things from its arguments or its input. */
export function deriveByProgram(name: string, args: readonly string[], stdin: Stdin | null): Derived[] {
  if (SHELLS.has(name)) return shell(args, stdin);
  const interpreter = INTERPRETERS.get(interpreterOf(name));
  if (interpreter !== undefined) return interpreted(name, args, stdin, interpreter);
  switch (name) {
    case 'eval':
      return scriptOf('eval', args[0] === '--' ? args.slice(1) : args, 'eval runs text that is only known when it runs');
    case 'source':
    case '.':
      return sourced(args, stdin);
    case 'trap':
      return args.length < 2 || (args[0] ?? '').startsWith('-l')
        ? []
        : scriptOf('trap', [args[0] === '--' ? (args[1] ?? '') : (args[0] ?? '')], 'trap runs text that is only known when it runs');
    case 'alias':
      return args.flatMap((arg) => {
        const at = arg.indexOf('=');
        return at <= 0 ? [] : scriptOf('alias', [arg.slice(at + 1)], 'an alias stands for text that is only known when it runs');
      });
    case 'find':
    case 'gfind':
      return found(args, /^-(exec|execdir|ok|okdir)$/);
    case 'fd':
    case 'fdfind':
      return found(args, /^(-x|--exec|-X|--exec-batch)$/);
    case 'busybox':
    case 'toybox':
    case 'coreutils':
      return args[0] === undefined
        ? []
        : [
            {
              kind: 'argv',
              via: 'multiplexer',
              argv: args[0].startsWith('--coreutils-prog=') ? [args[0].slice(17), ...args.slice(1)] : args,
              plain: false,
            },
          ];
    case 'watch':
      return watched(args);
    case 'env':
      return split(args);
    case 'su':
    case 'runuser':
    case 'script':
    case 'npx':
    case 'nix-shell':
    case 'flock':
      return optionScripts(
        args,
        /^(-[a-z]*c|--command|--call|--session-command|--run)$/,
        /^(--command|--call|--session-command|--run|-c)=?/,
      );
    case 'hyperfine':
      return args
        .filter((arg) => !arg.startsWith('-'))
        .flatMap((arg) => scriptOf('option', [arg], 'hyperfine runs text that is only known when it runs'));
    case 'git':
      return gitDerived(args);
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      return args.some((arg) => /\bsystem\s*\(|\|\s*getline|\|\s*"|\|&|print[^;}]*\|/.test(arg))
        ? [opaque('awk runs a command from inside its program')]
        : [];
    case 'vim':
    case 'vi':
    case 'nvim':
    case 'ex':
    case 'ed':
      return args.some((arg) => arg.includes('!')) ? [opaque(`${name} can run commands from its own script`)] : [];
    case 'tar':
      return args.some((arg) => /^--(checkpoint-action|to-command|use-compress-program|info-script|rsh-command)|^-[A-Za-z]*I/.test(arg))
        ? optionScripts(
            args,
            /^(--to-command|--use-compress-program|-I)$/,
            /^--(checkpoint-action=exec|to-command|use-compress-program|info-script|rsh-command)=/,
          )
        : [];
    case 'pnpm':
    case 'yarn':
    case 'npm':
    case 'bun':
      return packageRunner(args);
    case 'tmux':
      return args.some((arg) =>
        /^(new|new-session|new-window|neww|split-window|splitw|run|run-shell|respawn-pane|if-shell|send-keys|send)$/.test(arg),
      )
        ? args
            .filter((arg) => !arg.startsWith('-'))
            .flatMap((arg) => scriptOf('option', [arg], 'tmux runs text that is only known when it runs'))
        : [];
    case 'sed':
    case 'gsed':
      return parseSed(args).scripts.some(sedRuns) ? [opaque('sed runs a command from inside its script')] : [];
    case 'hash':
      return args[0] === '-p' && args[1] !== undefined ? [{ kind: 'argv', via: 'alias', argv: [args[1]], plain: false }] : [];
    case 'mapfile':
    case 'readarray':
    case 'compgen':
    case 'complete':
      return [...optionScripts(args, /^-C$/, /^-C(?=.)/), ...subscripts(args)];
    case 'test':
    case '[':
    case 'read':
    case 'unset':
    case 'let':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'export':
    case 'readonly':
    case 'wait':
      return subscripts(args);
    case 'printf':
      return args[0] === '-v' ? subscripts(args.slice(1, 2)) : [];
    case 'make':
    case 'gmake':
      return args.some(
        (arg, index) =>
          /^(-f-|--(make)?file=(-|\/dev\/stdin))$/.test(arg) ||
          (/^(-f|--file|--makefile)$/.test(args[index - 1] ?? '') && /^(-|\/dev\/stdin)$/.test(arg)),
      )
        ? [opaque(`${name} runs the makefile it is given as input`)]
        : [];
    case 'rsync':
      return remoteShell(args);
    case 'man':
      return optionScripts(args, /^(-P|--pager)$/, /^--pager=|^-P(?=.)/);
    case 'ssh':
    case 'scp':
    case 'sftp':
      return optionScripts(
        args.map((arg) => arg.replace(/^-o(?=.)/, '')),
        /(?!)/,
        /^(ProxyCommand|LocalCommand|KnownHostsCommand)[ =]/i,
      );
    case 'at':
    case 'batch':
      return stdin?.kind === 'text' ? scriptOf('stdin', [stdin.text], '') : [opaque(`${name} runs later whatever it reads`)];
    default:
      return [];
  }
}

function found(args: readonly string[], option: RegExp): Derived[] {
  const derived: Derived[] = [];
  for (const [index, arg] of args.entries()) {
    if (!option.test(arg)) continue;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((word, at) => word === ';' || (word === '+' && rest[at - 1] === '{}'));
    const argv = (end === -1 ? rest : rest.slice(0, end)).map((word) => word.replaceAll('{}', UNKNOWN));
    if (argv.length > 0) derived.push({ kind: 'argv', via: 'find', argv, plain: false });
  }
  return derived;
}

/** Builtins that read a word as a variable run the substitutions in its subscript, quoted or not. */
function subscripts(args: readonly string[]): Derived[] {
  return args.flatMap((arg): Derived[] =>
    /\[.*(\$\(|`)/s.test(arg) ? [{ kind: 'script', via: 'eval', script: `: ${arg}`, plain: false }] : [],
  );
}

/** Environment variables whose value other programs run as a command. */
const COMMAND_VARIABLE =
  /^(PS4|ENV|BASH_ENV)$|(COMMAND|PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|LESSOPEN|LESSCLOSE|EXTERNAL_DIFF|RSYNC_RSH|GIT_SSH|GIT_PROXY_COMMAND|CC|CXX)$/;

/** Commands in the assignments before a command. */
export function deriveByAssignment(name: string, value: string): Derived[] {
  return COMMAND_VARIABLE.test(name) ? scriptOf('option', [value], `${name} names a command that is only known when it runs`) : [];
}

function watched(args: readonly string[]): Derived[] {
  const starts = args.findIndex((arg, index) => !arg.startsWith('-') && !/^-(n|-interval)$/.test(args[index - 1] ?? ''));
  return starts === -1 ? [] : scriptOf('wrapper', args.slice(starts), 'watch runs text that is only known when it runs', true);
}

function split(args: readonly string[]): Derived[] {
  return args.flatMap((arg, index) => {
    if (arg === '-S' || arg === '--split-string')
      return scriptOf('option', args.slice(index + 1), 'env -S runs text that is only known when it runs');
    const attached = /^(?:-[a-zA-Z]*S|--split-string=)([\s\S]+)$/.exec(arg);
    return attached === null
      ? []
      : scriptOf('option', [attached[1] ?? '', ...args.slice(index + 1)], 'env -S runs text that is only known when it runs');
  });
}

/** Settings of git whose value is a command. */
const GIT_COMMAND_KEY =
  /^alias\.|pager|editor|command|program|helper|external|textconv|cmd$|fsmonitor|askpass|proxy|driver|clean$|smudge$|process$|uploadpack|receivepack/i;

/** Options and subcommands of git that run a command or stand for another git command. */
function gitDerived(args: readonly string[]): Derived[] {
  const derived: Derived[] = [];
  for (const [index, arg] of args.entries()) {
    const setting = arg === '-c' ? args[index + 1] : /^-c[a-zA-Z]/.test(arg) ? arg.slice(2) : undefined;
    const match = setting === undefined ? null : /^([^=]+)=([\s\S]*)$/.exec(setting);
    if (match === null) continue;
    const [, key = '', value = ''] = match;
    if (/^alias\./i.test(key) && !value.startsWith('!'))
      derived.push({ kind: 'script', via: 'option', script: `git ${value}`, plain: false });
    else if (GIT_COMMAND_KEY.test(key))
      derived.push(...scriptOf('option', [value.replace(/^!/, '')], 'a git setting runs text that is only known when it runs'));
  }
  if (args.includes('foreach') && args.includes('submodule')) {
    derived.push(
      ...scriptOf(
        'option',
        args.slice(args.indexOf('foreach') + 1).filter((arg) => arg !== '--recursive'),
        'git submodule foreach runs text that is only known when it runs',
      ),
    );
  }
  const run = args.indexOf('run');
  if (args.includes('bisect') && run !== -1) derived.push({ kind: 'argv', via: 'option', argv: args.slice(run + 1), plain: false });
  if (args.includes('difftool')) derived.push(...optionScripts(args, /^(-x|--extcmd)$/, /^--extcmd=/));
  if (args.includes('filter-branch')) derived.push(...optionScripts(args, /^--[a-z]+-filter$|^--setup$/, /^--[a-z]+-filter=/));
  if (args.includes('rebase')) derived.push(...optionScripts(args, /^(-x|--exec)$/, /^--exec=/));
  return derived;
}

function packageRunner(args: readonly string[]): Derived[] {
  const at = args.findIndex((arg) => !arg.startsWith('-'));
  if (at === -1 || !/^(exec|x|dlx)$/.test(args[at] ?? '')) return [];
  const rest = args.slice(at + 1);
  const start = rest.findIndex((arg) => !arg.startsWith('-'));
  const scripts = optionScripts(rest, /^(-c|--call|--shell-mode)$/, /^--call=/);
  return start === -1 ? scripts : [...scripts, { kind: 'argv', via: 'wrapper', argv: rest.slice(start), plain: false }];
}
