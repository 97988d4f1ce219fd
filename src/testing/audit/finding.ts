import type { PermissionMode } from '../../permissions/types.js';

/** What is wrong: one kind for each thing an audit looks for. */
export type FindingKind =
  /** A rule that means nothing. */
  | 'inert'
  /** A rule with a doubtful spelling. */
  | 'doubtful'
  /** A rule that another one always stands above. */
  | 'shadowed'
  /** A rule that changes nothing, because a broader one says the same. */
  | 'redundant'
  /** An allow rule that lets more run than it seems to. */
  | 'swallows'
  /** A deny rule that another spelling or another program gets round. */
  | 'walkedRound'
  /** A mode that runs everything. */
  | 'openMode'
  /** A hook whose failure lets the call go on. */
  | 'failsOpen'
  /** A hook that never runs, or never decides. */
  | 'inertHook'
  /** Something in a settings file that is ignored. */
  | 'invalid';

/** `hole`: something runs that the settings seem to keep back. `warning`: probably not as meant. `note`: worth knowing. */
export type Severity = 'hole' | 'warning' | 'note';

/** A call that shows a finding, and what becomes of it. */
export interface Witness {
  /** The call, as a rule would spell it. */
  readonly call: string;
  /** The mode it was judged in. */
  readonly mode: PermissionMode;
  /** What the settings make of it. */
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The deciding rule or check, in words. */
  readonly reason: string;
}

/** Something in settings that is probably not as meant. */
export interface Finding {
  /** What is wrong. */
  readonly kind: FindingKind;
  /** How much it matters. */
  readonly severity: Severity;
  /** The rule, hook or key as written. */
  readonly subject: string;
  /** The file it stands in; undefined for settings given in code. */
  readonly file?: string;
  /** 1-based line in `file`. */
  readonly line?: number;
  /** One sentence: what is the matter. */
  readonly message: string;
  /** The way out. */
  readonly advice?: string;
  /** A call that shows it, for findings about what runs. */
  readonly witness?: Witness;
}

const SEVERITY_ORDER: readonly Severity[] = ['hole', 'warning', 'note'];

export const bySeverity = (a: Finding, b: Finding): number =>
  SEVERITY_ORDER.indexOf(a.severity) - SEVERITY_ORDER.indexOf(b.severity) ||
  (a.file ?? '').localeCompare(b.file ?? '') ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0);

/** A finding as lines for a terminal. */
export function describeFinding({ kind, severity, subject, file, line, message, advice, witness }: Finding): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  return [
    `${place}${severity} (${kind}): ${subject}`,
    `  ${message}`,
    ...(witness === undefined ? [] : [`  witness: ${witness.call} → ${witness.decision} in mode ${witness.mode} (${witness.reason})`]),
    ...(advice === undefined ? [] : [`  way out: ${advice}`]),
  ].join('\n');
}
