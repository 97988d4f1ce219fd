import { parse } from 'unbash';

/** The syntax tree of a script; undefined for one that cannot be read. */
export function syntaxOf(command: string): unknown {
  try {
    return parse(command);
  } catch {
    return undefined;
  }
}

/** A field of a node; undefined of what is no node. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** The name and the words of a simple command, as nodes; undefined for any other node. A redirection among them has no value of its own. */
export function wordNodes(node: unknown): readonly unknown[] | undefined {
  if (member(node, 'type') !== 'Command') return undefined;
  const suffix = member(node, 'suffix');
  return [member(node, 'name'), ...(Array.isArray(suffix) ? suffix : [])];
}
