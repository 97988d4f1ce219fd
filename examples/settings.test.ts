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
    never('Bash(rm -rf build)').runs({ unless: 'askedPerson' }),
    never('Bash(git push origin main)').runs({ unless: 'askedPerson' }),
    always('Read(.env)').isDenied(),
    never('Bash(npm test)').runs({ mode: 'plan', unless: 'askedPerson' }),
  ]);
  for (const { property, paths, violation } of results)
    it(`${property.name} (${paths} paths)`, () => assert.equal(violation, null, violation ? describeViolation(violation) : ''));

  it('were walked by more than one way', () => assert.ok(model.counts.paths > 10, model.describe()));
});

/** One test for each path of the removal, whatever spelling and mode: what is not denied outright is asked about first. */
const removals = { paths: model.paths.filter(({ call }) => call.pattern === 'Bash(rm -rf build)') };
describePaths(
  removals,
  (path) => {
    if (path.ran) expectThat(path).toBeAsked();
    else expectThat(path).toEndAs('denied');
  },
  { describe, it },
);
