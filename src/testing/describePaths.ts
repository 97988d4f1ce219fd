import type { PermissionModel } from './explore/model.js';
import type { PermissionPath } from './explore/path.js';

/** The two functions of a test runner that paths are written with: of Vitest, `node:test`, Jest … */
export interface TestRunner {
  /** Makes a group of tests. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** Makes a test. */
  readonly it: (name: string, body: () => void | Promise<void>) => unknown;
}

/**
 * Makes one test of each path, named by its description, and one group for each mode.
 *
 * ```ts
 * import { describe, it } from 'node:test';
 * describePaths(model, (path) => expectThat(path).toEndAs('denied'), { describe, it });
 * ```
 * @param runner - Default: the global `describe` and `it`, where the runner sets them.
 * @throws when there is no runner, and when the model has no path: a suite without tests would pass.
 */
export function describePaths(
  model: Pick<PermissionModel, 'paths'>,
  body: (path: PermissionPath) => void | Promise<void>,
  runner: TestRunner = globalRunner(),
): void {
  if (model.paths.length === 0) throw new Error('The model has no path, so there is nothing to test.');
  const modes = new Map<string, PermissionPath[]>();
  for (const path of model.paths) modes.set(path.mode, [...(modes.get(path.mode) ?? []), path]);
  for (const [mode, paths] of modes) {
    runner.describe(`mode ${mode}`, () => {
      for (const path of paths) runner.it(path.description, () => body(path));
    });
  }
}

function globalRunner(): TestRunner {
  const { describe, it }: { describe?: unknown; it?: unknown } = globalThis as { describe?: unknown; it?: unknown };
  if (isFunction(describe) && isFunction(it)) return { describe: (...args) => describe(...args), it: (...args) => it(...args) };
  throw new Error(
    'No test runner was given: pass { describe, it } of yours as the last argument, or import describePaths from sixgates/testing/vitest or sixgates/testing/node.',
  );
}

const isFunction = (value: unknown): value is (...args: readonly unknown[]) => unknown => typeof value === 'function';
