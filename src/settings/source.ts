import type { RuleScope } from '../permissions/types.js';
import type { JsonDocument } from './jsonc.js';

/** A settings file, or settings from code. */
export interface Source {
  readonly scope: RuleScope;
  readonly file?: string;
  /** Where a leading slash of a path rule points. */
  readonly root: string;
  readonly document: JsonDocument;
}

/** Comes with a repository: it must not grant itself anything before a person trusts it. */
export const needsTrust = ({ scope }: Source): boolean => scope === 'projectSettings' || scope === 'localSettings';
