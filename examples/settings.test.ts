/**
 * Your settings, held against what must be true of them: every mode, every spelling of a command, every answer, on all paths through
 * the machines. Nothing is run. Run it: `node --import tsx --test examples/settings.test.ts`
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { always, checkProperties, describePaths, describeViolation, expectThat, explorePermissions, never } from 'sixgates/testing';

const settings = {
  permissions: {
    allow: ['Bash(npm test *)', 'Edit(/src/**)'],
    ask: ['Bash(git push *)'],
    deny: ['Bash(rm *)', 'Read(.env)'],
  },
};

const model = await explorePermissions({
  settings,
  calls: ['Bash(rm -rf build)', 'Bash(git push origin main)', 'Read(.env)', 'Bash(npm test)'],
  modes: ['default', 'acceptEdits', 'plan', 'dontAsk'],
});

describe('my settings', () => {
  const results = checkProperties(model, [
    never('Bash(rm -rf build)').runs(),
    never('Bash(git push origin main)').runs({ unless: 'askedPerson' }),
    always('Read(.env)').isDenied(),
    always('Bash(npm test)').runs({ mode: 'default' }),
  ]);
  for (const { property, paths, violation } of results)
    it(`${property.name} (${paths} paths)`, () => assert.equal(violation, null, violation ? describeViolation(violation) : ''));

  it('reach every part of the permission machine that they can reach', () => {
    console.log(model.describe());
    assert.ok(model.counts.paths > 10);
  });
});

/** One test for each path of the calls that are removed, whatever spelling and mode. */
const removals = { paths: model.paths.filter(({ call }) => call.pattern === 'Bash(rm -rf build)') };
describePaths(removals, (path) => expectThat(path).toEndAs('denied'), { describe, it });
