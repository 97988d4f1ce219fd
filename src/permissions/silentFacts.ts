import type { PermissionState } from './call.js';
import type { PermissionFacts } from './types.js';

/** Facts of a call of which nothing speaks. */
export const silentFacts = (
  state: Pick<PermissionState, 'mode' | 'canAsk' | 'hasPermissionRequestHooks' | 'hasClassifier'>,
): PermissionFacts => ({
  mode: state.mode,
  denyRule: null,
  hook: null,
  askRule: null,
  requiresPerson: null,
  safety: null,
  tool: { behavior: 'passthrough' },
  modeVerdict: { behavior: 'passthrough', reason: `Mode ${state.mode} has no say` },
  allowRule: null,
  builtInAllow: null,
  shadowed: [],
  canAsk: state.canAsk,
  hasPermissionRequestHooks: state.hasPermissionRequestHooks,
  hasClassifier: state.hasClassifier,
  suggestions: [],
});
