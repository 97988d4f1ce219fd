import { describe, expect, it } from 'vitest';
import { permissionMachine } from '../../machines/index.js';
import { machineGraph } from '../../src/inspect/index.js';
import { toMermaidWithCoverage } from '../../src/testing/diagram/mermaid.js';
import { toSvg } from '../../src/testing/diagram/svg.js';
import { explorePermissions } from '../../src/testing/index.js';

const graph = machineGraph(permissionMachine);
const model = await explorePermissions({
  cwd: '/project',
  home: '/home/someone',
  settings: {},
  calls: ['Bash(make *)'],
  spellings: 'plain',
  modes: ['default'],
  answers: ['no'],
});
const coverage = model.coverage.toJSON().machines.permission;
if (coverage === undefined) throw new Error('no coverage of the permission machine');

describe('a diagram', () => {
  it('as SVG has every state and the text of every transition', () => {
    const svg = toSvg(graph);
    for (const { key } of graph.nodes) expect(svg).toContain(`>${key}</text>`);
    const texts = svg.match(/<text class="label/g) ?? [];
    expect(texts).toHaveLength(graph.edges.length);
    expect(svg).not.toContain('NaN');
  });

  it('paints what was reached and what was not', () => {
    const svg = toSvg(graph, coverage);
    expect(svg).toContain('state reached');
    expect(svg).toContain('wire missed');
    const text = toMermaidWithCoverage(graph, coverage);
    expect(text).toContain('class permission_denied reached');
    expect(text).toContain('class permission_allowed missed');
    expect(text).toMatch(/✗ always \[aDenyRuleMatches\]/);
    expect(text).not.toMatch(/✗ done#colon; askPerson \[isNoToThisQuestion\]/);
  });
});
