import type { AnyTool } from '../tool/types.js';

/** The built-in tools. */
export function baseTools(): AnyTool[] {
  return [];
}
