import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { isJsonObject } from '../../json.js';
import { messageOf } from '../../tool/errors.js';
import { ALL_MODES } from '../explore/types.js';
import { always, never, type Property } from '../properties.js';
import type { Policy } from './types.js';

const NAMES = ['ts', 'mts', 'mjs', 'js', 'json'].map((extension) => `sixgates.policy.${extension}`);

/** The policy file of a directory, if it has one. */
export const findPolicy = (directory: string): string | undefined =>
  NAMES.map((name) => join(directory, name)).find((file) => existsSync(file));

/**
 * Reads a policy: `.json`, or a module whose default export is one. TypeScript needs no build.
 *
 * @throws an error that names the file and what is wrong with it.
 */
export async function loadPolicy(path: string): Promise<Policy> {
  const file = resolve(path);
  if (!existsSync(file)) throw new Error(`The policy file ${file} does not exist.`);
  const policy = extname(file) === '.json' ? jsonPolicy(file) : await modulePolicy(file);
  const directory = dirname(file);
  return {
    ...policy,
    cwd: resolve(directory, policy.cwd ?? '.'),
    ...(policy.home === undefined ? {} : { home: resolve(directory, policy.home) }),
  };
}

async function modulePolicy(file: string): Promise<Policy> {
  let loaded: unknown;
  try {
    loaded = /\.m?ts$/.test(file) ? await importTypeScript(file) : await import(pathToFileURL(file).href);
  } catch (error) {
    throw new Error(`The policy ${file} cannot be loaded: ${messageOf(error)}`, { cause: error });
  }
  const policy: unknown = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : undefined;
  if (!isPolicy(policy))
    throw new Error(
      `The policy ${file} has no default export with "properties"; write: export default definePolicy({ properties: [...] }).`,
    );
  return policy;
}

async function importTypeScript(file: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { interopDefault: false }).import(file);
}

const isPolicy = (value: unknown): value is Policy =>
  typeof value === 'object' &&
  value !== null &&
  'properties' in value &&
  Array.isArray(value.properties) &&
  value.properties.every((one: unknown) => typeof one === 'object' && one !== null && 'fault' in one && typeof one.fault === 'function');

const mode = z.enum(ALL_MODES as [(typeof ALL_MODES)[number], ...(typeof ALL_MODES)[number][]]);
const modes = z.union([mode, z.array(mode).nonempty()]).optional();
const call = z.union([z.string(), z.array(z.string()).nonempty()]);
const schema = z.strictObject({
  $schema: z.string().optional(),
  cwd: z.string().optional(),
  home: z.string().optional(),
  settings: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
  modes: z.array(mode).nonempty().optional(),
  hooks: z.enum(['run', 'ignore']).optional(),
  mcpServers: z.array(z.string()).optional(),
  spellings: z.enum(['plain', 'common', 'thorough']).optional(),
  audit: z.boolean().optional(),
  failOn: z.enum(['hole', 'warning', 'note']).optional(),
  never: z
    .array(
      z.strictObject({
        call,
        does: z.enum(['runs', 'asks', 'isDenied']),
        unless: z.enum(['asked', 'askedPerson']).optional(),
        mode: modes,
      }),
    )
    .optional(),
  always: z.array(z.strictObject({ call, does: z.enum(['runs', 'asks', 'isDenied']), mode: modes })).optional(),
});

function jsonPolicy(file: string): Policy {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`The policy ${file} is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `  ${path.join('.') || '(whole file)'}: ${message}`);
    throw new Error(`The policy ${file} cannot be used:\n${issues.join('\n')}`);
  }
  const { never: nevers = [], always: alwayses = [], $schema: _, settings, ...rest } = parsed.data;
  const properties: Property[] = [
    ...nevers.map(({ call: calls, does, unless, mode: when }) => {
      const subject = never(...[calls].flat());
      const circumstances = when === undefined ? {} : { mode: when };
      return does === 'runs'
        ? subject.runs({ ...circumstances, ...(unless === undefined ? {} : { unless }) })
        : subject[does](circumstances);
    }),
    ...alwayses.map(({ call: calls, does, mode: when }) => always(...[calls].flat())[does](when === undefined ? {} : { mode: when })),
  ];
  const given = Object.fromEntries(Object.entries(rest).filter(([, field]) => field !== undefined));
  return {
    ...given,
    ...(settings === undefined ? {} : { settings: typeof settings === 'string' || !isJsonObject(settings) ? String(settings) : settings }),
    properties,
  };
}
