import { z } from 'zod';

/** Collects what a preprocessing step hands on, all parts included: that is made by the step, not written by a model. */
export function collectMade(def: z.core.$ZodTypeDef, into: Set<object>): void {
  if (def.type === 'pipe' && 'in' in def && def.in instanceof z.ZodTransform && 'out' in def) collectParts(def.out, into);
}

/** A schema, those it was refined from, and all that its definition is made of. */
function collectParts(part: unknown, into: Set<object>): void {
  if (typeof part !== 'object' || part === null || into.has(part)) return;
  into.add(part);
  const parts = part instanceof z.ZodType ? [part._zod.parent, ...Object.values(part.def)] : Object.values(part);
  for (const one of parts) collectParts(one, into);
}
