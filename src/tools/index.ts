import type { AnyTool } from '../tool/types.js';
import { type BashOptions, bashTool } from './bash/bash.js';
import { editTool } from './edit/edit.js';
import type { FileChangeOptions } from './fs/change.js';
import { readTool } from './read/read.js';
import { globTool } from './search/glob.js';
import { grepTool } from './search/grep.js';
import { writeTool } from './write.js';

export { createFileLedger } from './fs/ledger.js';
export { absolutePath, resolveTarget } from './fs/paths.js';
export { FILE_TOOLS, type ToolPath, toolPaths } from './tool-paths.js';

/** What an embedding program may set about the built-in tools. */
export interface BuiltInToolOptions extends FileChangeOptions, BashOptions {}

/** The built-in tools, enabled on this machine or not. */
export function baseTools(options: BuiltInToolOptions = {}): AnyTool[] {
  return [bashTool(options), editTool(options), globTool(), grepTool(), readTool(), writeTool(options)];
}
