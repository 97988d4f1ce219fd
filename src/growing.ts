/**
 * Looks at each item of a list that grows once, however often it is asked: what was found before is kept by the list. The last item may
 * still be put in another's place; a list that was cut or begun anew is looked at from its start.
 */
export function growing<Item, Found>(look: (item: Item) => readonly Found[]): (items: readonly Item[]) => readonly Found[] {
  const known = new WeakMap<readonly Item[], { readonly count: number; readonly last: Item | undefined; readonly found: Found[] }>();
  return (items) => {
    // All but the last are settled.
    const settled = Math.max(0, items.length - 1);
    const before = known.get(items);
    const holds = before !== undefined && before.count <= settled && (before.count === 0 || items[before.count - 1] === before.last);
    const found = holds ? before.found : [];
    for (const item of items.slice(holds ? before.count : 0, settled)) found.push(...look(item));
    known.set(items, { count: settled, last: items[settled - 1], found });
    return [...found, ...items.slice(settled).flatMap(look)];
  };
}
