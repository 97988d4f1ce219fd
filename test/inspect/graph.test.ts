import { describe, expect, it } from 'vitest';
import { and, createActor, createMachine, not, setup } from 'xstate';
import * as product from '../../machines/index.js';
import { machineGraph, toMermaid, toScxml } from '../../src/inspect/index.js';
import { callMachine, parentMachine } from './support/machines.js';
import { mermaidProblems } from './support/mermaid.js';

const odd = setup({ guards: { yes: () => true, no: () => false }, delays: { later: 500 } }).createMachine({
  id: 'odd',
  initial: 'a.b'.replace('.', '_'),
  states: {
    a_b: { on: { 'x: "y"; #z': { target: 'both', guard: and(['yes', not('no')]) }, SELF: { actions: () => {} } } },
    'a b': { always: { guard: () => true, target: 'end' } },
    both: {
      type: 'parallel',
      states: {
        l: { initial: 'one', states: { one: { after: { later: 'two' } }, two: {}, h: { type: 'history', history: 'deep' } } },
        r: {},
      },
      onDone: 'end',
    },
    end: { type: 'final' },
  },
  on: { RESET: { target: '.a b', reenter: true }, MANY: { target: ['.both.l.two', '.both.r'] } },
});
const machines = { callMachine, parentMachine, odd, ...product };

describe('the graph of a machine', () => {
  it('has every state, with type, initial state and invocations', () => {
    const { nodes } = machineGraph(callMachine);
    expect(nodes[0]).toMatchObject({ id: 'toolCall', parent: null, type: 'compound', initial: 'toolCall.queued' });
    expect(nodes.find(({ key }) => key === 'calling')).toMatchObject({ parent: 'toolCall.executing', invokes: ['run'] });
    expect(nodes.find(({ key }) => key === 'deciding')?.description).toBe('Quiet: guards only.');
  });

  it('has eventless, delayed, done and error edges with guards and actions', () => {
    const { edges } = machineGraph(callMachine);
    const shown = edges.map(({ kind, source, target, label }) => `${kind}: ${source} → ${target}: ${label}`);
    expect(shown).toContain('always: toolCall.executing.deciding → toolCall.denied: always [isDenied]');
    expect(shown).toContain('after: toolCall.executing.asking → toolCall.denied: after 60000');
    expect(shown).toContain('done: toolCall.executing.calling → toolCall.completed: done: run');
    expect(shown).toContain('error: toolCall.executing.calling → toolCall.failed: error: run');
    expect(edges.find(({ label }) => label === 'ANSWER [saysYes]')?.actions).toEqual(['allow']);
  });

  it('names combined and unnamed guards, splits transitions with several targets, marks those with none', () => {
    const { edges } = machineGraph(odd);
    expect(edges.find(({ event }) => event.startsWith('x:'))?.guard).toBe('yes and not no');
    expect(edges.find(({ source }) => source === 'odd.a b')?.label).toBe('always [inline]');
    const ends = machineGraph(product.toolCallMachine).edges.filter(({ guard }) => guard?.startsWith('endedAs'));
    expect(ends.map(({ guard, target }) => `${guard} ${target}`)).toContain('endedAs(succeeded) toolCall.completed.succeeded');
    expect(new Set(ends.map(({ label }) => label)).size).toBe(ends.length);
    // Parameters that come with the event are not known before.
    expect(machineGraph(product.toolCallMachine).edges.some(({ guard }) => guard === 'isAllowed')).toBe(true);
    expect(edges.find(({ event }) => event === 'SELF')).toMatchObject({ internal: true, source: 'odd.a_b', target: 'odd.a_b' });
    const many = edges.filter(({ event }) => event === 'MANY');
    expect(many.map(({ id }) => id)).toEqual(['odd~MANY~0~0', 'odd~MANY~0~1']);
    expect(new Set(many.map(({ transition }) => transition)).size).toBe(1);
  });

  it.each(Object.entries(machines))('of %s: unique ids, no dangling end, plain JSON', (_name, machine) => {
    const graph = machineGraph(machine);
    const ids = new Set(graph.nodes.map(({ id }) => id));
    expect(ids.size).toBe(graph.nodes.length);
    expect(new Set(graph.edges.map(({ id }) => id)).size).toBe(graph.edges.length);
    for (const { source, target } of graph.edges) expect(ids.has(source) && ids.has(target)).toBe(true);
    for (const { parent, initial } of graph.nodes) for (const id of [parent, initial]) expect(id === null || ids.has(id)).toBe(true);
    expect(JSON.parse(JSON.stringify(graph))).toEqual(graph);
  });
});

describe('diagrams', () => {
  it.each(Object.entries(machines))('Mermaid of %s is well formed and has every state and every edge', (_name, machine) => {
    const graph = machineGraph(machine);
    const text = toMermaid(graph);
    expect(mermaidProblems(text)).toEqual([]);
    const root = graph.nodes[0];
    const drawnRoot = root?.type === 'parallel' || graph.nodes.length === 1;
    expect(text.match(/^\s*state "/gm) ?? []).toHaveLength(graph.nodes.length - (drawnRoot ? 0 : 1));
    const own = graph.edges.filter(({ source }) => drawnRoot || source !== root?.id).length;
    expect((text.match(/ --> \w+ : /g) ?? []).length).toBeGreaterThanOrEqual(own);
  });

  it('light the active states', () => {
    const actor = createActor(callMachine, { input: { slot: 's', call: { id: 'i', name: 'Bash', input: {} } } });
    const active = actor.getSnapshot()._nodes.map((node) => node.id);
    expect(toMermaid(machineGraph(callMachine), { active })).toMatch(/class toolCall_queued active$/);
  });

  it('keep states apart whose names only differ in signs, and escape labels', () => {
    const text = toMermaid(machineGraph(odd));
    expect(text).toContain('as odd_a_b\n');
    expect(text).toContain('as odd_a_b_\n');
    expect(text).toContain('x#colon; #quot;y#quot;#59; #35;z [yes and not no]');
  });

  it.each(Object.entries(machines))('SCXML of %s is well formed, with as many states and transitions', (_name, machine) => {
    const graph = machineGraph(machine);
    const text = toScxml(graph);
    const open: string[] = [];
    for (const [, close, name, self] of text.matchAll(/<(\/?)(\w+)(?:\s+[\w:]+="[^"<>&]*(?:&(?:amp|lt|gt|quot);[^"<>&]*)*")*\s*(\/?)>/g)) {
      if (close) expect(open.pop()).toBe(name);
      else if (!self && name) open.push(name);
    }
    expect(open).toEqual([]);
    expect(text.match(/<(state|parallel|final|history) /g)).toHaveLength(graph.nodes.length);
    expect(text.match(/<transition/g) ?? []).toHaveLength(new Set(graph.edges.map(({ transition }) => transition)).size);
    const targets = [...text.matchAll(/(?:target|initial)="([^"]+)"/g)].map((match) => match[1] ?? '');
    for (const { id } of graph.nodes) if (targets.includes(id)) expect(text).toContain(`id="${id}"`);
  });

  it('work for a machine without states', () => {
    const graph = machineGraph(createMachine({ id: 'one' }));
    expect(mermaidProblems(toMermaid(graph))).toEqual([]);
    expect(toScxml(graph)).toContain('<state id="one">');
  });
});
