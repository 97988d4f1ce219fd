import type { AnyTool } from '../tool/types.js';
import { askUserQuestionTool } from './ask-user-question.js';
import { bashTool } from './bash/bash.js';
import type { ShellToolOptions } from './bash/shell-tool.js';
import { editTool } from './edit/edit.js';
import type { FileChangeOptions } from './fs/change.js';
import { lspTool } from './lsp/lsp.js';
import type { LanguageServerConfig } from './lsp/server.js';
import { notebookEditTool } from './notebook-edit.js';
import { powershellTool } from './powershell.js';
import { readTool } from './read/read.js';
import { globTool } from './search/glob.js';
import { grepTool } from './search/grep.js';
import { sleepTool } from './sleep.js';
import { taskOutputTool } from './task-output.js';
import { taskStopTool } from './task-stop.js';
import { todoWriteTool } from './todo-write.js';
import { type WebFetchOptions, webFetchTool } from './web-fetch/web-fetch.js';
import { worktreeTools } from './worktree.js';
import { writeTool } from './write.js';

export type { LanguageServerConfig } from './lsp/server.js';
export { resolveToolPaths } from './tool-paths.js';
export type { PageSummariser, WebFetchOptions } from './web-fetch/web-fetch.js';

/** What an embedding program may set about the built-in tools. */
export interface BuiltInToolOptions {
  /** Refuse to write credentials into files that git shares. Default true. */
  readonly secretGuard?: boolean;
  /** @internal */
  readonly killTimes?: NonNullable<ShellToolOptions['killTimes']>;
  /** @internal */
  readonly observe?: NonNullable<FileChangeOptions['observe']>;
  /** How WebFetch reads and answers. */
  readonly webFetch?: WebFetchOptions;
  /** Offer EnterWorktree and ExitWorktree. Default false. */
  readonly worktrees?: boolean;
  /** Language servers for the LSP tool; without any the tool is not offered. */
  readonly languageServers?: readonly LanguageServerConfig[];
}

/** The built-in tools, enabled on this machine or not. Tools keep state by session, so one set may serve several. */
export function baseTools(options: BuiltInToolOptions = {}): AnyTool[] {
  return [
    askUserQuestionTool(),
    bashTool(options),
    editTool(options),
    globTool(),
    grepTool(),
    lspTool(options.languageServers ?? []),
    notebookEditTool(options),
    powershellTool(options),
    readTool(),
    sleepTool(),
    taskOutputTool(),
    taskStopTool(),
    todoWriteTool(),
    webFetchTool(options.webFetch),
    writeTool(options),
    ...(options.worktrees === true ? worktreeTools() : []),
  ];
}
