import type { CallAspect, PermissionCall, PermissionState } from './call.js';
import { NO_ASPECT } from './call.js';
import type { RuleMatch } from './types.js';
import { wildcard } from './wildcard.js';

/** Aliases that PowerShell comes with, and the cmdlet each stands for; both spellings match a rule for either. */
const CMDLETS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'Remove-Item': 'rm rmdir ri del erase rd',
    'Copy-Item': 'cp copy cpi',
    'Move-Item': 'mv move mi',
    'Rename-Item': 'ren rni',
    'New-Item': 'ni',
    'Get-ChildItem': 'ls dir gci',
    'Get-Content': 'cat gc type',
    'Set-Content': 'sc',
    'Add-Content': 'ac',
    'Clear-Content': 'clc',
    'Get-Item': 'gi',
    'Set-Item': 'si',
    'Set-Location': 'cd chdir sl',
    'Push-Location': 'pushd',
    'Pop-Location': 'popd',
    'Get-Location': 'pwd gl',
    'Invoke-WebRequest': 'curl wget iwr',
    'Invoke-RestMethod': 'irm',
    'Invoke-Expression': 'iex',
    'Invoke-Command': 'icm',
    'Start-Process': 'start saps',
    'Stop-Process': 'kill spps',
    'Get-Process': 'ps gps',
    'Write-Output': 'echo write',
    'Select-String': 'sls',
    'ForEach-Object': '% foreach',
    'Where-Object': '? where',
    'Select-Object': 'select',
    'Sort-Object': 'sort',
    'Measure-Object': 'measure',
    'Tee-Object': 'tee',
    'Clear-Host': 'cls clear',
    'Get-Command': 'gcm',
    'Get-Help': 'man help',
    'Start-Job': 'sajb',
  }).flatMap(([cmdlet, aliases]) =>
    [cmdlet.toLowerCase(), ...aliases.split(' ')].map((name): [string, string] => [name, cmdlet.toLowerCase()]),
  ),
);

const READ_ONLY = new Set(
  'get-childitem get-content get-item get-location get-process get-command get-help select-string select-object sort-object measure-object write-output test-path resolve-path get-date'.split(
    ' ',
  ),
);

/** A name as every spelling of it reads: lower case, aliases resolved, module and `.exe` dropped. */
function canonicalName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/^.*[\\/]/, '')
    .replace(/\.exe$/, '');
  return CMDLETS.get(plain) ?? plain;
}

const canonicalText = (text: string): string => {
  const [, name = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  return `${canonicalName(unquote(name))} ${rest.replace(/\s+/g, ' ').toLowerCase()}`.trim();
};

const unquote = (word: string): string => word.replace(/["'`]/g, '');

interface Script {
  readonly commands: readonly string[];
  /** Only known when it runs, or beyond this reader: no allow rule covers such a script. */
  readonly opaque: string | null;
}

/** PowerShell takes typographic quotes for the plain ones, also to close a string that a plain one opened. */
const PLAIN_QUOTE: ReadonlyMap<string, string> = new Map([...'\u201c\u201d\u201e'].map((quote): [string, string] => [quote, '"']));
const PLAIN_APOSTROPHE: ReadonlyMap<string, string> = new Map(
  [...'\u2018\u2019\u201a\u201b'].map((quote): [string, string] => [quote, "'"]),
);

/** The commands of a script, split at every place where one may start, quotes and comments respected. */
function splitPowerShell(script: string): Script {
  const commands: string[] = [];
  let current = '';
  let quote = '';
  let opaque: string | null = null;
  const end = (): void => {
    if (current.trim() !== '') commands.push(current.trim());
    current = '';
  };
  for (let i = 0; i < script.length; i++) {
    const written = script[i] ?? '';
    const char = PLAIN_QUOTE.get(written) ?? PLAIN_APOSTROPHE.get(written) ?? written;
    if (quote !== '') {
      if (char === '$' && quote === '"' && script[i + 1] === '(') opaque ??= 'a substitution inside a string';
      current += char;
      if (char === '`' && quote === '"') current += script[++i] ?? '';
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") {
      if (script[i - 1] === '@') opaque ??= 'a here-string';
      quote = char;
      current += char;
    } else if (char === '#' && /^$|[\s;|&(){}]/.test(script[i - 1] ?? '')) {
      while (i + 1 < script.length && !'\n\r'.includes(script[i + 1] ?? '')) i++;
    } else if (char === '`') {
      opaque ??= 'an escaped character';
      current += script[++i] ?? '';
    } else if (';|&\n\r'.includes(char)) {
      if (char === '&' && script[i + 1] !== '&' && script[i - 1] !== '&') opaque ??= 'the call operator';
      end();
    } else if ('{}()'.includes(char)) {
      opaque ??= 'a block or an expression';
      end();
    } else {
      if ('<>'.includes(char)) opaque ??= 'a redirection';
      current += char;
    }
  }
  if (quote !== '') opaque ??= 'a string without an end';
  end();
  if (
    opaque === null &&
    commands.some((command) =>
      /^(?:[$@[.]|(?:iex|invoke-expression|icm|invoke-command|powershell|pwsh|cmd|start-process|saps)\b)/i.test(command),
    )
  ) {
    opaque = 'text that is run as a program';
  }
  return { commands, opaque };
}

/** `:*` at the end means ` *`; a trailing ` *` also covers the bare command. */
function contentMatches(content: string, command: string): boolean {
  const spaced = content.trim().replace(/:\*$/, ' *');
  const wanted = canonicalText(spaced);
  const text = canonicalText(command);
  return wildcard(wanted, '.', 'is').test(text) || (wanted.endsWith(' *') && wildcard(wanted.slice(0, -2), '.', 'is').test(text));
}

const DRIVE_OR_SYSTEM =
  /^["']?(?:[a-z]:[\\/]?["']?$|[a-z]:[\\/](?:\*|windows|users|program files)[^\\/]*[\\/]?["']?$|[\\/]["']?$|[\\/]\*|~[\\/]?["']?$|\$home|\$env:|.*\*)/i;

/** What PowerShell rules say of a script. Names are compared without case; an alias and its cmdlet are the same. */
export function powershellAspect(call: PermissionCall, state: PermissionState, wholeToolAllow: RuleMatch | null): CallAspect {
  const { command } = call.input;
  if (typeof command !== 'string') return NO_ASPECT;
  const { commands, opaque } = splitPowerShell(command);
  const { rules } = state;
  const speaks = (behavior: 'deny' | 'ask'): RuleMatch | null => {
    for (const { rule, matcher } of rules[behavior].powershell) {
      const matched = commands.find((one) => contentMatches(matcher.content, one));
      if (matched !== undefined) return { rule, matched };
    }
    return null;
  };
  const ruleFor = (one: string): RuleMatch | null => {
    const found = rules.allow.powershell.find(({ matcher }) => contentMatches(matcher.content, one));
    return found === undefined ? null : { rule: found.rule };
  };
  const needing = commands.filter((one) => !READ_ONLY.has(canonicalText(one).split(' ')[0] ?? ''));
  const covered = opaque === null && needing.length > 0 ? needing.map(ruleFor) : [];
  const removal = commands.find(
    (one) =>
      /^remove-item /.test(canonicalText(one)) &&
      one
        .split(/\s+/)
        .slice(1)
        .some((word) => DRIVE_OR_SYSTEM.test(word)),
  );
  const readsOnly = opaque === null && needing.length === 0 && commands.every((one) => !/[\\/~]|\.\.|:/.test(one));
  const restricted = rules.deny.powershell[0] ?? rules.ask.powershell[0];
  return {
    ...NO_ASPECT,
    deny: speaks('deny'),
    ask: speaks('ask'),
    allow: wholeToolAllow ?? (covered.length > 0 && covered.every((found) => found !== null) ? (covered[0] ?? null) : null),
    safety:
      opaque !== null && restricted !== undefined
        ? {
            kind: 'opaqueCommand',
            reason: `The script holds ${opaque}, which a ${restricted.rule.behavior} rule may speak of`,
            bypassable: false,
          }
        : null,
    builtIn: readsOnly && commands.length > 0 ? 'Only reads' : null,
    refusal: removal === undefined ? null : `"${removal}" would remove a system path or whatever a wildcard finds`,
    writes: needing.length > 0 || opaque !== null,
  };
}
