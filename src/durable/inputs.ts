import { createHash } from 'node:crypto';
import type { SessionOptions } from '../session/options.js';
import { toolDefinition } from '../session/request.js';

const digests = new WeakMap<object, string>();
/** What a query may not find changed when it goes on elsewhere. */
export function inputsOf({ tools = [], model, builtInTools }: SessionOptions): string {
  const hash = createHash('sha256');
  for (const tool of tools) {
    const known =
      digests.get(tool) ??
      createHash('sha256')
        .update(JSON.stringify(toolDefinition(tool)))
        .digest('hex');
    digests.set(tool, known);
    hash.update(known);
  }
  const named = typeof model === 'string' ? { id: model } : { id: model?.id, maxTokens: model?.maxTokens, system: model?.system };
  hash.update(JSON.stringify([named, builtInTools ?? true]));
  return hash.digest('hex');
}
