import type { JsonObject } from '../json.js';
import { absolutePath, resolveTarget } from './fs/paths.js';
import { rootedPattern, rootFrom } from './search/pattern.js';

/** A path that a call touches, absolute and normalised, and how. */
export interface ToolPath {
  readonly path: string;
  readonly access: 'read' | 'edit';
}

/** Which member of a file tool's input names its path, and how the tool uses it. Without a path, searches start in the working directory. */
const FILE_TOOLS: Readonly<Record<string, { readonly key: string; readonly access: 'read' | 'edit'; readonly optional?: true }>> = {
  Read: { key: 'file_path', access: 'read' },
  Glob: { key: 'path', access: 'read', optional: true },
  Grep: { key: 'path', access: 'read', optional: true },
  LSP: { key: 'filePath', access: 'read' },
  Edit: { key: 'file_path', access: 'edit' },
  Write: { key: 'file_path', access: 'edit' },
  NotebookEdit: { key: 'notebook_path', access: 'edit' },
};

/** The paths of a built-in file tool's input, for path rules and safety checks; empty for any other tool. Pure; links are not followed. */
export function toolPaths(toolName: string, input: JsonObject, cwd: string): readonly ToolPath[] {
  const file = Object.hasOwn(FILE_TOOLS, toolName) ? FILE_TOOLS[toolName] : undefined;
  if (file === undefined) return [];
  const written = input[file.key];
  if (typeof written === 'string' && written !== '')
    return [{ path: absolutePath(written, cwd), access: file.access }, ...globRoot(toolName, input, cwd)];
  return file.optional === true ? [{ path: cwd, access: file.access }, ...globRoot(toolName, input, cwd)] : [];
}

/**
 * Where the paths of a call lead now, by the absolute path asked for: what `ToolContext.resolvedPaths` wants. Taken when a
 * permission is decided, it lets the tool refuse a link that was swapped afterwards. A path that cannot be resolved is left out;
 * the tool itself says why.
 */
export async function resolveToolPaths(toolName: string, input: JsonObject, cwd: string): Promise<Readonly<Record<string, string>>> {
  const pairs = await Promise.all(
    toolPaths(toolName, input, cwd).map(async ({ path }) => {
      const target = await resolveTarget(path).catch(() => undefined);
      return target === undefined ? [] : [[path, target] as const];
    }),
  );
  return Object.fromEntries(pairs.flat());
}

/** A glob pattern that is absolute or climbs searches where it says. */
function globRoot(toolName: string, input: JsonObject, cwd: string): ToolPath[] {
  const { pattern, path } = input;
  const rooted = toolName === 'Glob' && typeof pattern === 'string' ? rootedPattern(pattern) : undefined;
  if (rooted === undefined) return [];
  return [{ path: rootFrom(rooted.named, typeof path === 'string' ? path : undefined, cwd), access: 'read' }];
}
