import { isInside } from './paths.js';

/**
 * Files and directories whose change can run code or change what is allowed: no mode but bypassPermissions and no allow
 * rule waves a write to them through (Claude Code docs, permission modes).
 */
const DIRECTORIES = new Set('.git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude'.split(' '));

const FILES = new Set(
  `.gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile
  .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc
  .pre-commit-config.yaml gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json .mcp.json
  .claude.json`.split(/\s+/),
);

const LEFTHOOK = /^\.?lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/;

/**
 * Why a path is protected, or null; `configDirs` are the user's, as written and where they lead. Compared without case: some file systems
 * do not tell `.GIT` from `.git`.
 */
export function protectedReason(path: string, configDirs: readonly string[] = []): string | null {
  const configDir = configDirs.find((one) => isInside(one.toLowerCase(), path.toLowerCase()));
  if (configDir !== undefined) return `${path} lies in ${configDir}, which holds the user's settings`;
  const segments = path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '')
    .map(withoutDisguise);
  for (const [index, segment] of segments.entries()) {
    const isWorktree = segment === '.claude' && segments[index + 1] === 'worktrees' && index + 2 < segments.length;
    if (DIRECTORIES.has(segment) && !isWorktree) return `${path} lies in ${segment}, whose files can run code or change settings`;
    if (segment === '.config' && segments[index + 1] === 'git') return `${path} lies in .config/git, whose files can run code`;
  }
  const name = segments.at(-1) ?? '';
  return FILES.has(name) || LEFTHOOK.test(name) ? `${path} is a file that can run code or change settings` : null;
}

/** Windows drops trailing dots and blanks, knows streams (`name:stream`) and short names (`GIT~1`). */
function withoutDisguise(segment: string): string {
  const plain = segment.replace(/:.*$/, '').replace(/[. ]+$/, '');
  const short = /^(git|claude)~\d+$/.exec(plain)?.[1];
  return short === undefined ? plain || segment : `.${short}`;
}
