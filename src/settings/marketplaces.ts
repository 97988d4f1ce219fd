import { z } from 'zod';

const optionalText = z.string().optional();
const gitUrl = z.string().refine((url) => url.endsWith('.git') || /^(?:git@|ssh:)/.test(url), 'a git URL ends in .git');
const pinned = { ref: optionalText, sha: optionalText, path: optionalText };
const pluginGit = z.strictObject({ source: z.literal('url'), url: gitUrl, ...pinned });
const pluginSource = z.union([
  z.string(),
  z.strictObject({ source: z.literal('github'), repo: z.string(), ...pinned }),
  z.strictObject({ source: z.literal('npm'), package: z.string(), version: optionalText, registry: optionalText }),
  z.strictObject({ source: z.literal('git-subdir'), url: z.string(), ...pinned }),
  pluginGit,
]);

/** Where a plugin marketplace is found. Checked, so that a slip is reported; plugins themselves are no part of this runtime. */
export const marketplaceSource = z.discriminatedUnion('source', [
  z.looseObject({ source: z.literal('github'), repo: z.string() }),
  z.looseObject({ source: z.literal('git'), url: gitUrl }),
  z.looseObject({ source: z.literal('url'), url: z.string() }),
  z.looseObject({ source: z.literal('npm'), package: z.string() }),
  z.looseObject({ source: z.literal('file'), path: z.string() }),
  z.looseObject({ source: z.literal('directory'), path: z.string() }),
  z.looseObject({ source: z.literal('hostPattern'), hostPattern: z.string() }),
  z.looseObject({ source: z.literal('pathPattern'), pathPattern: z.string() }),
  z.looseObject({
    source: z.literal('settings'),
    name: z.string(),
    plugins: z.array(z.looseObject({ name: z.string(), source: pluginSource })),
  }),
]);
