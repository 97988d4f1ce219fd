import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { errorCode, ToolFailure } from '../../tool/errors.js';
import type { ToolContext } from '../../tool/types.js';
import { missingMessage } from './missing.js';
import { absolutePath, refusePath, resolveTarget } from './paths.js';

/** A path that was asked for, and where it leads. */
export interface Target {
  /** The absolute path as asked for. */
  readonly asked: string;
  /** The same with every link followed. */
  readonly real: string;
}

/**
 * Resolves a path for a tool and refuses what may not be touched: network paths, what a deny rule covers under either
 * spelling, and a path that leads elsewhere than when its permission was decided. A Read deny also covers writing: who
 * may not see a file may not change it.
 */
export async function approvedTarget(written: string, access: 'read' | 'edit', context: ToolContext): Promise<Target> {
  const refusal = refusePath(written);
  if (refusal !== undefined) throw new ToolFailure(refusal);
  const asked = absolutePath(written, context.cwd, context.env);
  const real = await resolveTarget(asked);
  confirmApproved({ asked, real }, context);
  for (const spelling of new Set([asked, real])) {
    if (context.permissions.deniesPath('read', spelling) !== null) {
      throw new ToolFailure(
        access === 'read'
          ? `${asked} is covered by a Read deny rule in your permission settings.`
          : `${asked} is covered by a Read deny rule in your permission settings and cannot be edited.`,
      );
    }
    if (access === 'edit' && context.permissions.deniesPath('edit', spelling) !== null) {
      throw new ToolFailure(`${asked} is covered by an Edit deny rule in your permission settings.`);
    }
  }
  return { asked, real };
}

function confirmApproved(target: Target, context: ToolContext): void {
  const approved = context.resolvedPaths?.[target.asked];
  if (approved !== undefined && approved !== target.real) {
    throw new ToolFailure(`${target.asked} led to ${approved} when it was allowed and leads to ${target.real} now. Nothing was done.`);
  }
}

/** Refuses when the path no longer leads where it led when the call began. */
export async function confirmUnmoved(target: Target): Promise<void> {
  if ((await resolveTarget(target.asked)) !== target.real) {
    throw new ToolFailure(`${target.asked} changed where it leads while the call ran. Nothing was done.`);
  }
}

/**
 * Opens the target for reading: a regular file only, and the very one that the path leads to. A link that is swapped between
 * the check and the open does not get through.
 */
export async function openForReading(target: Target): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    const before = await stat(target.real);
    if (before.isDirectory()) throw new ToolFailure(`${target.asked} is a directory, not a file. Use Glob or \`ls\` to see what is in it.`);
    if (!before.isFile()) throw new ToolFailure(`${target.asked} is not a regular file (a device, pipe or socket).`);
    handle = await open(target.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw await explainMissing(error, target.asked);
  }
  try {
    const [opened, named, real] = await Promise.all([handle.stat(), stat(target.real), realpath(target.asked)]);
    if (real !== target.real || opened.ino !== named.ino || opened.dev !== named.dev || !opened.isFile()) {
      throw new ToolFailure(`${target.asked} changed where it leads while it was opened. Nothing was read.`);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw explainFileError(error, target.asked);
  }
}

/** The same as `explainFileError`; of a file that does not exist, with the name that may have been meant. */
export async function explainMissing(error: unknown, asked: string): Promise<unknown> {
  return errorCode(error) === 'ENOENT' ? new ToolFailure(await missingMessage(asked)) : explainFileError(error, asked);
}

/** A system error about a file as a message for the model; any other error as it is. */
export function explainFileError(error: unknown, asked: string): unknown {
  switch (errorCode(error)) {
    case 'ENOENT':
      return new ToolFailure(`${asked} does not exist.`);
    case 'EACCES':
    case 'EPERM':
      return new ToolFailure(`${asked}: the operating system denies access.`);
    case 'EISDIR':
      return new ToolFailure(`${asked} is a directory, not a file.`);
    case 'ENOTDIR':
      return new ToolFailure(`${asked}: a part of the path is a file, not a directory.`);
    case 'ELOOP':
      return new ToolFailure(`${asked} is part of a loop of symbolic links.`);
    case 'ENOSPC':
      return new ToolFailure(`${asked} was not written: the disk is full.`);
    case 'EROFS':
      return new ToolFailure(`${asked} was not written: the file system is read-only.`);
    case 'ENAMETOOLONG':
      return new ToolFailure(`${asked}: the name is too long.`);
    case 'EMFILE':
    case 'ENFILE':
      return new ToolFailure(`${asked}: too many files are open.`);
    default:
      return error;
  }
}
