/**
 * `sixgates/testing/vitest`: the kit for Vitest. Importing it adds the matchers to `expect`.
 *
 * @packageDocumentation
 */

import { describe, expect, it } from 'vitest';
import type { OutcomeKind } from '../tool/call.js';
import { describePaths as describeWith } from './describePaths.js';
import type { PermissionModel } from './explore/model.js';
import type { PermissionPath } from './explore/path.js';
import { type ExpectedCheck, pathMatchers } from './matchers.js';

expect.extend(pathMatchers);

/** One Vitest test for each path of a model. */
export const describePaths = (model: Pick<PermissionModel, 'paths'>, body: (path: PermissionPath) => void | Promise<void>): void =>
  describeWith(model, body, { describe, it });

interface PathMatchers<Result = unknown> {
  /** The call of a path ends in this state of `completed`. */
  toEndAs(kind: OutcomeKind): Result;
  /** The path calls the tool. */
  toRun(): Result;
  /** On the path a person or a PermissionRequest hook was asked and answered. */
  toBeAsked(): Result;
  /** The rule, hook or check with this name gave the decision. */
  toBeDecidedBy(by: string): Result;
  /** Every call of a history has its one result. */
  toBePaired(): Result;
  /** The decision's trace contains these checks in this order. */
  toHaveTrace(expected: readonly ExpectedCheck[]): Result;
}
declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the declaration that it joins is written so
  interface Matchers<T = any> extends PathMatchers<T> {}
}
