import {
  buildTool,
  type CallOutcome,
  type CanUseTool,
  createSession,
  type OutcomeKind,
  type PermissionAnswer,
  type PermissionFacts,
  type QueryEnded,
  type Sending,
  type Session,
  type SessionOptions,
  type SessionUpdate,
  tool,
  toolCallMachine,
} from 'sixgates';
import { attachInspector, type inspectFlow } from 'sixgates/inspect';
import type { SessionMachine, ToolCallContext, ToolCallMachine } from 'sixgates/machines';
import {
  type DeterministicPorts,
  deterministicMachines,
  never,
  type PermissionModel,
  type Property,
  quietFacts,
  type ScriptedModel,
  scriptedModel,
  text,
  toolUse,
} from 'sixgates/testing';
import { describe, expectTypeOf, it } from 'vitest';
import type { Actor, SnapshotFrom } from 'xstate';
import { z } from 'zod';

// The compiler is what fails these; `npm run typecheck` reads them, and a test holds them against the built declarations.
describe('types of the public API', () => {
  it('follow from a tool’s schema', () => {
    const made = buildTool({
      name: 'Add',
      description: 'Adds.',
      inputSchema: z.strictObject({ a: z.number(), b: z.number().default(1) }),
      call: async (input) => {
        expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>();
        return { data: { sum: input.a + input.b } };
      },
    });
    expectTypeOf(made.mapToolResultToToolResultBlockParam).parameter(0).toEqualTypeOf<{ sum: number }>();
    expectTypeOf<SessionOptions['tools']>().exclude(undefined).items.toExtend<object>();
    createSessionLater({ tools: [made] });
  });

  it('follow from the arguments of an MCP tool', () => {
    tool('add', 'Adds.', { a: z.number(), note: z.string().optional() }, (args) => {
      expectTypeOf(args).toEqualTypeOf<{ a: number; note?: string | undefined }>();
      return { content: [] };
    });
  });

  it('tell updates apart by their type', () => {
    const take = (update: SessionUpdate): void => {
      if (update.type === 'call.result') {
        expectTypeOf(update.outcome).toEqualTypeOf<CallOutcome>();
        expectTypeOf(update.outcome.kind).toEqualTypeOf<OutcomeKind>();
      }
      if (update.type === 'text.delta') expectTypeOf(update.text).toBeString();
    };
    expectTypeOf(take).parameter(0).toEqualTypeOf<SessionUpdate>();
    expectTypeOf<Sending>().toExtend<AsyncIterable<SessionUpdate>>();
    expectTypeOf<Sending['done']>().resolves.toEqualTypeOf<QueryEnded>();
  });

  it('name what the machines hold and hear, and the world they are given in a test', () => {
    const world: DeterministicPorts = {
      facts: ({ call }: ToolCallContext): PermissionFacts => ({ ...quietFacts, builtInAllow: call.name }),
    };
    expectTypeOf(deterministicMachines).parameter(0).toEqualTypeOf<DeterministicPorts | undefined>();
    expectTypeOf<ReturnType<typeof deterministicMachines>['toolCall']>().toEqualTypeOf<ToolCallMachine>();
    expectTypeOf<SnapshotFrom<typeof toolCallMachine>['context']>().toEqualTypeOf<ToolCallContext>();
    expectTypeOf<Session['actor']>().toEqualTypeOf<Actor<SessionMachine>>();
    expectTypeOf(world.facts).not.toBeUndefined();
  });

  it('refuse what has no meaning', () => {
    // @ts-expect-error a denial tells the model why
    const silent: PermissionAnswer = { behavior: 'deny', source: { type: 'nobody' } };
    // @ts-expect-error there is no such mode
    const mode: SessionOptions = { permissions: { mode: 'careless' } };
    // @ts-expect-error an option that does not exist
    const option: SessionOptions = { yolo: true };
    const denies: CanUseTool = async () => ({ behavior: 'deny', message: 'no' });
    expectTypeOf(denies).returns.resolves.not.toBeUndefined();
    expectTypeOf([silent, mode, option]).toBeArray();
  });

  it('say what sessions, machines, models and statements are', () => {
    expectTypeOf(createSession).returns.toEqualTypeOf<Session>();
    expectTypeOf<Session['openPermissions'][number]['inputDigest']>().toBeString();
    expectTypeOf(toolCallMachine.provide).toBeFunction();
    expectTypeOf(scriptedModel).returns.toEqualTypeOf<ScriptedModel>();
    expectTypeOf([[toolUse('Add', { a: 1 }), text('done')]]).toExtend<Parameters<typeof scriptedModel>[0]>();
    expectTypeOf(never('Bash').runs).returns.toEqualTypeOf<Property>();
    expectTypeOf<PermissionModel['paths'][number]['ran']>().toBeBoolean();
    expectTypeOf<Session>().toExtend<Parameters<typeof inspectFlow>[0]>();
    expectTypeOf(attachInspector).returns.resolves.toHaveProperty('url');
  });
});

/** Types only: nothing of these tests runs a session. */
function createSessionLater(options: SessionOptions): () => Session {
  return () => createSession(options);
}
