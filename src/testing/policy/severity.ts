import type { Severity } from '../audit/index.js';

const ORDER: readonly Severity[] = ['hole', 'warning', 'note'];

/** True when a finding of this severity fails a check that fails on `failOn`. */
export const failsOn = (severity: Severity, failOn: Severity): boolean => ORDER.indexOf(severity) <= ORDER.indexOf(failOn);
