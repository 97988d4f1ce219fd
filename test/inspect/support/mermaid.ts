/**
 * What Mermaid's stateDiagram-v2 grammar would refuse, as far as our writer could produce it. Checked once against Mermaid
 * itself in a browser; Mermaid does not parse in plain Node.
 */
export function mermaidProblems(text: string): string[] {
  const problems: string[] = [];
  const lines = text.split('\n');
  if (lines[0] !== 'stateDiagram-v2') problems.push('no header');
  const declared = new Set<string>();
  let depth = 0;
  for (const [index, line] of lines.entries()) {
    const at = `line ${index + 1}: ${line.trim()}`;
    const state = /^\s*state "([^"]*)" as (\w+)( \{)?$/.exec(line);
    const edge = /^\s*(\[\*\]|\w+) --> (\[\*\]|\w+)(?: : (.+))?$/.exec(line);
    if (state) {
      if (declared.has(state[2] ?? '')) problems.push(`declared twice, ${at}`);
      declared.add(state[2] ?? '');
      if (state[3]) depth++;
    } else if (edge) {
      const label = (edge[3] ?? '').replace(/#(?:\d+|[a-z]+);/g, '');
      if (/[:;#"]/.test(label)) problems.push(`label not escaped, ${at}`);
    } else if (/^\s*\}$/.test(line)) depth--;
    else if (/^\s*--$/.test(line)) {
      if (depth === 0) problems.push(`regions at the top, ${at}`);
    } else if (index > 0 && !/^\s*(classDef|class) /.test(line)) problems.push(`unknown statement, ${at}`);
  }
  if (depth !== 0) problems.push('braces do not match');
  for (const [, from, to] of text.matchAll(/^\s*(\[\*\]|\w+) --> (\[\*\]|\w+)/gm)) {
    for (const end of [from, to]) if (end !== '[*]' && !declared.has(end ?? '')) problems.push(`undeclared ${end}`);
  }
  return problems;
}
