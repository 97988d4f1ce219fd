import { baseName } from './derive.js';
import { START } from './directories.js';
import { readOnlyGit } from './readonly-git.js';
import { readOnlySed } from './sed.js';
import type { ShellAnalysis, ShellCommand } from './types.js';

/** Programs that only read, whatever their arguments. */
const READERS: ReadonlySet<string> = new Set(
  (
    'ls cat head tail wc stat strings hexdump od nl id uname free df du locale groups nproc basename dirname realpath cut paste tr column ' +
    'tac rev fold expand unexpand fmt comm cmp numfmt readlink diff true false sleep which type expr test [ getconf seq tsort pr echo ' +
    'pwd whoami cd uptime cal md5sum sha1sum sha256sum grep egrep fgrep netstat : pgrep lsof'
  ).split(' '),
);

type Check = (args: readonly string[]) => boolean;

const none =
  (pattern: RegExp): Check =>
  (args) =>
    !args.some((arg) => pattern.test(arg));

/** Programs that only read unless an option says otherwise; long options may be abbreviated. */
const CHECKED: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['find', none(/^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from)$/)],
  ['sort', none(/^(-[a-zA-Z]*[oTS]|--(o|com|te|fil))/)],
  ['uniq', (args) => args.every((arg, index) => arg.startsWith('-') || /^-[fsw]$/.test(args[index - 1] ?? ''))],
  ['tree', none(/^(-[a-zA-Z]*[oR]|--output)/)],
  ['date', dateReads],
  ['hostname', (args) => args.every((arg) => /^-[sfIidAy]+$|^--(short|fqdn|long|ip-address|all-ip-addresses|domain)$/.test(arg))],
  ['rg', none(/^--(pre|search-zip|hostname-bin)|^-[a-zA-Z]*z/)],
  ['fd', none(/^(-[a-zA-Z]*[xX]|--exec)/)],
  ['fdfind', none(/^(-[a-zA-Z]*[xX]|--exec)/)],
  ['file', none(/^(-[a-zA-Z]*[mfCP]|--(ma|fil|com|par))/)],
  ['ss', none(/^(-[a-zA-Z]*[KDF]|--(k|di|fi))/)],
  ['man', (args) => args.every((arg) => /^[A-Za-z0-9][\w.+:-]*$|^-[akf]$/.test(arg))],
  ['help', (args) => args.every((arg) => /^[A-Za-z0-9][\w.+-]*$|^-[dms]$/.test(arg))],
  ['info', (args) => args.every((arg) => /^[A-Za-z0-9][\w.+-]*$/.test(arg))],
  ['printf', (args) => args[0]?.startsWith('-v') !== true],
  // `ps auxe` shows environments.
  ['ps', none(/^[a-zA-Z]*e/)],
  ['base64', none(/^(-o|--output)/)],
  ['tput', none(/^-S$/)],
  ['sed', readOnlySed],
  ['git', readOnlyGit],
  ['docker', (args) => dockerReads(args)],
  ['node', (args) => onlyVersion(args, /^(-v|--version)$/)],
  ['python', (args) => onlyVersion(args, /^(-V|--version)$/)],
  ['python3', (args) => onlyVersion(args, /^(-V|--version)$/)],
]);

function dateReads(args: readonly string[]): boolean {
  const valued = /^(-d|--date|-r|--reference)$/;
  const harmless = /^(\+|-[uR]+$|-[dr]|-I\w*$|--(utc|universal|rfc-email|rfc-3339|iso-8601|date|reference)(=|$))/;
  return args.every((arg, index) => harmless.test(arg) || valued.test(args[index - 1] ?? ''));
}

function onlyVersion(args: readonly string[], flag: RegExp): boolean {
  return args.length === 1 && flag.test(args[0] ?? '');
}

/** Listing what the local daemon runs and has; an option may point at another daemon, Podman's too. */
function dockerReads(args: readonly string[]): boolean {
  return /^(ps|images|logs|inspect)$/.test(args[0] ?? '') && !args.some((arg) => OTHER_DAEMON.test(arg));
}
const OTHER_DAEMON = /^(-H|--(host|context|config|tls|url|connection|identity|remote))/;

/** `//server/share`: looking at it hands a password to the server. */
const NETWORK_SHARE = /^(\\\\|\/\/)[^/\\\s]+[/\\]/;

/** jq reads the environment, and files other than its operands, only on request; it has no way to write. */
const JQ_ENVIRONMENT = /(?<![.\w])(?:env|import|include)\b|\$ENV/;
const JQ_READS_MORE = /^(-[a-zA-Z]*[fL]|--from-file|--rawfile|--slurpfile|-L|--library-path|--run-tests)/;

/**
 * Why a command needs no rule in any mode: it only reads. Null when it may do more. Whether it may read the files that it names
 * is asked separately (see `fileAccesses`).
 */
export function readOnlyReason(command: ShellCommand, analysis: ShellAnalysis): string | null {
  if (analysis.kind === 'unparsable' || analysis.blockers.length > 0 || command.timed || command.assignments.length > 0) return null;
  const argv: string[] = [];
  for (const word of command.words) {
    if (word.value === null) return null;
    argv.push(word.value);
  }
  return readsOnly(argv, command) ? `${argv[0] ?? 'it'} only reads` : null;
}

function readsOnly(argv: readonly string[], command: ShellCommand): boolean {
  const name = argv[0] ?? '';
  const args = argv.slice(1);
  if (name === 'command' || name === 'builtin') {
    if (args.length === 0 || args[0]?.startsWith('-') === true) return false;
    return readsOnly(args, command);
  }
  if (name === 'xargs') return xargsReads(args, command);
  if (args.some((arg) => NETWORK_SHARE.test(arg))) return false;
  if (globbed(command) && (name === 'find' || name === 'sort' || name === 'sed' || name === 'git')) return false;
  if (name === 'git' && (command.directories.unknown || command.directories.paths.some((path) => !START.paths.includes(path))))
    return false;
  if (name === 'jq') return !args.some((arg) => JQ_READS_MORE.test(arg) || JQ_ENVIRONMENT.test(arg));
  if (READERS.has(name)) return true;
  return CHECKED.get(name)?.(args) ?? false;
}

function globbed(command: ShellCommand): boolean {
  return command.words.some((word) => word.glob);
}

/** `xargs` with a program that only reads whatever operands it is given. */
function xargsReads(args: readonly string[], command: ShellCommand): boolean {
  let i = 0;
  for (; i < args.length; i++) {
    const arg = args[i] ?? '';
    if (/^-[0rt]+$|^--(null|no-run-if-empty|verbose)$/.test(arg)) continue;
    if (/^-[nPLI]$/.test(arg)) i++;
    else if (!/^-(?:[nPL]\d+|I\S+)$/.test(arg)) break;
  }
  const name = args[i];
  if (name === undefined || baseName(name) !== name) return false;
  return (
    /^(echo|printf|wc|grep|egrep|fgrep|head|tail|cat|ls|stat|basename|dirname|realpath|readlink|md5sum|sha1sum|sha256sum)$/.test(name) &&
    readsOnly(args.slice(i), command)
  );
}
