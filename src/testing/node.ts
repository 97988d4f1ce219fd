/**
 * `sixgates/testing/node`: the kit for `node:test`.
 *
 * @packageDocumentation
 */

import { describe, it } from 'node:test';
import { describePaths as describeWith } from './describePaths.js';
import type { PermissionModel } from './explore/model.js';
import type { PermissionPath } from './explore/path.js';

/** One `node:test` test for each path of a model. */
export const describePaths = (model: Pick<PermissionModel, 'paths'>, body: (path: PermissionPath) => void | Promise<void>): void =>
  describeWith(model, body, { describe: (name, suite) => describe(name, suite), it: (name, test) => it(name, test) });

export { expectThat } from './matchers.js';
