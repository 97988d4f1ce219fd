/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours each cost one. */
export function editDistance(a: string, b: string): number {
  let twoBack: number[] = [];
  let oneBack = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min((oneBack[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (oneBack[column - 1] ?? 0) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (twoBack[column - 2] ?? 0) + 1);
      }
      current[column] = best;
    }
    twoBack = oneBack;
    oneBack = current;
  }
  return oneBack[b.length] ?? 0;
}

/**
 * The candidates that a person may have meant by `word`, nearest first, at most `limit`.
 * Compared without case; a candidate counts when it is within a third of its length, or when one contains the other.
 */
export function closest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = word.toLowerCase().slice(0, MAX_COMPARED);
  const scored: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of candidates) {
    const known = candidate.toLowerCase().slice(0, MAX_COMPARED);
    const distance = editDistance(wanted, known);
    const contained = wanted.length >= 3 && (known.includes(wanted) || (known.length >= 3 && wanted.includes(known)));
    if (contained || distance <= Math.max(1, Math.floor(Math.max(known.length, wanted.length) / 3))) scored.push({ candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, limit).map((entry) => entry.candidate);
}

/** The distance is quadratic in length; a name that a model invented may be long. */
const MAX_COMPARED = 100;
