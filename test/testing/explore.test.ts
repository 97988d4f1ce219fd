import { describe, expect, it } from 'vitest';
import { createMachine, raise } from 'xstate';
import { permissionMachine } from '../../machines/permission.js';
import { type ExploreOptions, explorePermissions } from '../../src/testing/index.js';

const options: ExploreOptions = {
  cwd: '/work/project',
  home: '/home/nobody',
  settings: { permissions: { deny: ['Bash(rm *)'] } },
  calls: [{ tool: 'Bash', input: { command: 'rm -rf build' } }],
  modes: ['default'],
};

describe('an exploration', () => {
  it.each([
    ['eventless transitions', { a: { always: 'b' }, b: { always: 'a' } }],
    ['entry actions', { a: { entry: 'raiseGo', on: { go: 'b' } }, b: { entry: 'raiseGo', on: { go: 'a' } } }],
  ])('of a machine that goes in a circle by %s ends, and says where', async (how, states) => {
    const circle = createMachine({ id: 'circle', initial: 'a', states }, { actions: { raiseGo: raise({ type: 'go' }) } });
    const exploring = explorePermissions({ ...options, machines: { permission: circle } });
    await expect(exploring, how).rejects.toThrow(/machine circle does not come to rest.*circle\.a → circle\.b/s);
  });

  it('of a machine that breaks says so, instead of taking it for a call that never runs', async () => {
    const boom = (): boolean => {
      throw new Error('boom');
    };
    const [guard = ''] = Object.keys(permissionMachine.implementations.guards);
    const broken = permissionMachine.provide({ guards: { [guard]: boom } });
    await expect(explorePermissions({ ...options, machines: { permission: broken } })).rejects.toThrow(
      /The machine permission broke.*boom/s,
    );
  });

  it('says which name it does not know, and which there are', async () => {
    const wrong: readonly [object, RegExp][] = [
      [{ modes: ['yolo'] }, /modes: there is no "yolo"; write default, acceptEdits/],
      [{ answers: ['perhaps'] }, /answers: there is no "perhaps"/],
      [{ hooks: { outcomes: ['maybe'] } }, /hooks\.outcomes: there is no "maybe"/],
      [{ hooks: { requestOutcomes: ['maybe'] } }, /hooks\.requestOutcomes: there is no "maybe"/],
    ];
    for (const [more, message] of wrong) await expect(explorePermissions({ ...options, ...more })).rejects.toThrow(message);
  });
});
