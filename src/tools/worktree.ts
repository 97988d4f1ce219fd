import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, realpath } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { buildTool } from '../tool/build.js';
import { messageOf, ToolFailure } from '../tool/errors.js';
import type { AnyTool, ToolContext } from '../tool/types.js';
import { resolveTarget } from './fs/paths.js';

const run = promisify(execFile);

const enterSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'expected letters, digits, dots, dashes and underscores, at most 64' })
    .optional()
    .describe('Name of the new worktree; chosen if left out'),
  path: z.string().optional().describe('An existing worktree of this repository to enter instead'),
});
const exitSchema = z.strictObject({
  action: z.enum(['keep', 'remove']).describe('Keep the worktree, or remove it with its branch'),
  discard_changes: z
    .boolean()
    .default(false)
    .describe('Remove it although it has changes that are not committed or commits that no other branch has'),
});

interface Entered {
  readonly worktree: string;
  /** Undefined for a worktree that was there before: it is never removed. */
  readonly branch: string | undefined;
  readonly startCommit: string;
  readonly origin: string;
  readonly root: string;
}

/** EnterWorktree and ExitWorktree: a session works in a git worktree of its own and comes back. */
export function worktreeTools(): AnyTool[] {
  const sessions = new Map<string, Entered>();

  const enter = buildTool({
    name: 'EnterWorktree',
    description: 'Work in a git worktree of its own',
    prompt:
      "Creates a git worktree with a new branch under .claude/worktrees of the repository (or enters an existing one by path) and makes it the session's working directory.",
    inputSchema: enterSchema,
    searchHint: 'git worktree isolate branch',
    shouldDefer: true,
    isDestructive: () => false,
    validateInput: ({ name, path: given }) =>
      name !== undefined && given !== undefined ? { ok: false, message: 'Give name or path, not both.' } : { ok: true },
    async call(input, context) {
      if (sessions.has(context.sessionId))
        throw new ToolFailure('This session is in a worktree already. Leave it with ExitWorktree first.');
      const root = await mainRoot(context.cwd);
      const startCommit = await git(context.cwd, ['rev-parse', 'HEAD']);
      const entered =
        input.path === undefined
          ? await create(root, input.name, startCommit, context)
          : await existing(root, input.path, startCommit, context);
      sessions.set(context.sessionId, entered);
      return {
        data: { worktree: entered.worktree, branch: entered.branch },
        modify: (session) => {
          session.updatePermissions([{ type: 'addDirectories', directories: [entered.worktree], destination: 'session' }]);
          session.setCwd(entered.worktree);
        },
      };
    },
    mapToolResultToToolResultBlockParam: ({ worktree, branch }) => ({
      content: `The session works in ${worktree} now${branch === undefined ? '' : `, on the new branch ${branch}`}.`,
    }),
  });

  const exit = buildTool({
    name: 'ExitWorktree',
    description: "Leave the session's git worktree",
    prompt:
      'Goes back to the directory from which EnterWorktree was called, and keeps or removes the worktree. Work that exists nowhere else is removed only with discard_changes.',
    inputSchema: exitSchema,
    searchHint: 'git worktree leave remove',
    shouldDefer: true,
    isDestructive: ({ action }) => action === 'remove',
    async call({ action, discard_changes }, context) {
      const entered = sessions.get(context.sessionId);
      if (entered === undefined) throw new ToolFailure('This session is not in a worktree that EnterWorktree entered.');
      const removed = action === 'remove' && entered.branch !== undefined;
      const branch = removed ? await removeWorktree(entered, entered.branch, discard_changes) : undefined;
      sessions.delete(context.sessionId);
      return { data: { ...entered, removed, branch }, modify: (session) => session.setCwd(entered.origin) };
    },
    mapToolResultToToolResultBlockParam: ({ worktree, origin, removed, branch }) => ({
      content: `${worktree} was ${removed ? 'removed' : 'kept'}${branch === undefined ? '' : ` with its branch ${branch}`}. The session works in ${origin} again.`,
    }),
  });
  return [enter, exit];
}

async function create(root: string, name: string | undefined, startCommit: string, context: ToolContext): Promise<Entered> {
  const chosen = name ?? `session-${randomBytes(4).toString('hex')}`;
  const worktree = path.join(root, '.claude', 'worktrees', chosen);
  const branch = `worktree-${chosen}`;
  await git(root, ['worktree', 'add', '-b', branch, worktree, startCommit]);
  return { worktree: await realpath(worktree), branch, startCommit, origin: context.cwd, root };
}

async function existing(root: string, written: string, startCommit: string, context: ToolContext): Promise<Entered> {
  const wanted = await resolveTarget(path.resolve(context.cwd, written));
  const listed = (await git(root, ['worktree', 'list', '--porcelain']))
    .split('\n')
    .flatMap((line) => (line.startsWith('worktree ') ? [line.slice(9)] : []));
  if (!listed.includes(wanted)) throw new ToolFailure(`${wanted} is not a worktree of this repository. There are: ${listed.join(', ')}.`);
  return { worktree: wanted, branch: undefined, startCommit, origin: context.cwd, root };
}

/** Returns the branch that was removed with it, if it was still there. */
async function removeWorktree(entered: Entered, branch: string, discard: boolean): Promise<string | undefined> {
  const isThere = await access(entered.worktree).then(
    () => true,
    () => false,
  );
  const branches = (await git(entered.root, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).split('\n');
  const hasBranch = branches.includes(branch);
  if (!discard) {
    const changes = isThere ? await git(entered.worktree, ['status', '--porcelain']) : '';
    // HEAD may have left the branch meanwhile, and the branch may have been renamed: what counts is what no other name leads to.
    const heads = [
      ...(isThere ? [await git(entered.worktree, ['rev-parse', 'HEAD'])] : []),
      ...(hasBranch ? [`refs/heads/${branch}`] : []),
    ];
    const kept = [`--exclude=${branch}`, '--branches', '--remotes', '--tags', entered.startCommit];
    const commits = heads.length === 0 ? '0' : await git(entered.root, ['rev-list', '--count', ...heads, '--not', ...kept]);
    if (changes !== '' || commits !== '0') {
      const files = changes === '' ? 0 : changes.split('\n').length;
      throw new ToolFailure(
        `The worktree has ${files} changed files and ${commits} commits of its own. Keep it, or set discard_changes to lose them.`,
      );
    }
  }
  if (isThere) await git(entered.root, ['worktree', 'remove', '--force', entered.worktree]);
  else await git(entered.root, ['worktree', 'prune']);
  if (hasBranch) await git(entered.root, ['branch', '-D', '--', branch]);
  return hasBranch ? branch : undefined;
}

/** The repository's main work tree, also when called from a linked one. */
async function mainRoot(cwd: string): Promise<string> {
  const common = await git(cwd, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  return path.basename(common) === '.git' ? path.dirname(common) : git(cwd, ['rev-parse', '--show-toplevel']);
}

async function git(cwd: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', [...args], { cwd, timeout: 60_000, maxBuffer: 16 * 1024 * 1024 });
    return stdout.trim();
  } catch (error) {
    throw new ToolFailure(`git ${args.slice(0, 2).join(' ')} failed: ${messageOf(error).slice(0, 1000)}`);
  }
}
