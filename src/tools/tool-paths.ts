import type { JsonObject } from '../json.js';
import { absolutePath } from './fs/paths.js';

/** A path that a call touches, absolute and normalised, and how. */
export interface ToolPath {
  readonly path: string;
  readonly access: 'read' | 'edit';
}

/** Which member of a file tool's input names its path, and how the tool uses it. Without a path, searches start in the working directory. */
export const FILE_TOOLS: Readonly<Record<string, { readonly key: string; readonly access: 'read' | 'edit'; readonly optional?: true }>> = {
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

/** An absolute glob pattern searches where it says, whatever `path` says. */
function globRoot(toolName: string, input: JsonObject, cwd: string): ToolPath[] {
  const pattern = input.pattern;
  if (toolName !== 'Glob' || typeof pattern !== 'string' || !/^(?:\/|~\/)/.test(pattern)) return [];
  const fixed = pattern.split('/');
  const wild = fixed.findIndex((part) => /[*?[{]/.test(part));
  return [{ path: absolutePath(fixed.slice(0, wild === -1 ? undefined : wild).join('/') || '/', cwd), access: 'read' }];
}
