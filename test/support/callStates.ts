/** The states of a call up to its decision, in order. */
export const UP_TO_DECISION = [
  'queued',
  'executing.resolving',
  'executing.parsing',
  'executing.validating',
  'executing.hooking',
  'executing.deciding',
] as const;

/** The states of a call that is run, up to its end. */
export const UP_TO_END = [...UP_TO_DECISION, 'executing.calling', 'executing.reporting'] as const;
