import { readFile } from 'node:fs/promises';
import path from 'node:path';
import ignore from 'ignore';

/** Forms of credentials that nobody writes by accident: each has a prefix or frame of its own. */
const SECRETS: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'a private key', pattern: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]{40}/g },
  { what: 'an AWS access key id', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { what: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})/g },
  { what: 'an Anthropic API key', pattern: /\bsk-ant-[A-Za-z0-9_-]{32,}/g },
  { what: 'an OpenAI API key', pattern: /\bsk-(?:proj-)?[A-Za-z0-9_-]{40,}/g },
  { what: 'a Slack token', pattern: /\bxox[abprs]-[A-Za-z0-9-]{20,}/g },
  { what: 'a Google API key', pattern: /\bAIza[A-Za-z0-9_-]{35}\b/g },
  { what: 'a Stripe live key', pattern: /\b[rs]k_live_[A-Za-z0-9]{20,}/g },
  { what: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
];

/**
 * Looks for credentials that a change would put into a file that others get to see: a file in a git work tree that its
 * `.gitignore` does not keep out. Only what is new counts; a secret that is in the file already may be edited around.
 * @returns the reason to refuse, or undefined.
 */
export async function newSecret(realPath: string, before: string, after: string): Promise<string | undefined> {
  const found = SECRETS.find(({ pattern }) => (after.match(pattern) ?? []).some((secret) => !before.includes(secret)));
  if (found === undefined || !(await isShared(realPath))) return undefined;
  return `${realPath} is shared through git and the new text looks like it holds ${found.what}. Nothing was written. Put it into a file that git ignores, or refer to it by an environment variable.`;
}

async function isShared(realPath: string): Promise<boolean> {
  const root = await gitRoot(path.dirname(realPath));
  if (root === undefined) return false;
  const rules = ignore();
  // From the root down, so that a deeper file adds to what a higher one says.
  const folders = [root];
  for (const part of path.relative(root, path.dirname(realPath)).split(path.sep).filter(Boolean)) {
    folders.push(path.join(folders.at(-1) ?? root, part));
  }
  for (const folder of folders) {
    const text = await readFile(path.join(folder, '.gitignore'), 'utf8').catch(() => '');
    const prefix = path.relative(root, folder).split(path.sep).join('/');
    for (const line of text.split(/\r?\n/)) {
      if (line.trim() === '' || line.startsWith('#')) continue;
      rules.add(prefix === '' ? line : anchored(line, prefix));
    }
  }
  return !rules.ignores(path.relative(root, realPath).split(path.sep).join('/'));
}

/** A pattern of a nested `.gitignore` as one of the root's. */
function anchored(line: string, prefix: string): string {
  const negated = line.startsWith('!');
  const pattern = negated ? line.slice(1) : line;
  const inside = pattern.slice(0, -1).includes('/') ? pattern.replace(/^\//, '') : `**/${pattern}`;
  return `${negated ? '!' : ''}/${prefix}/${inside}`;
}

async function gitRoot(directory: string): Promise<string | undefined> {
  for (let folder = directory; ; folder = path.dirname(folder)) {
    const found = await readFile(path.join(folder, '.git', 'HEAD')).then(
      () => true,
      () =>
        readFile(path.join(folder, '.git')).then(
          () => true,
          () => false,
        ),
    );
    if (found) return folder;
    if (path.dirname(folder) === folder) return undefined;
  }
}
