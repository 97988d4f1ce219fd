/** The parts of a V8 CPU profile that are read. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface Share {
  readonly name: string;
  readonly us: number;
}

/**
 * Where samples belong, by the innermost frame that answers to a rule: work inside a library counts for the library, and what Node does
 * for someone (hashing, promises, streams) for Node.
 */
const CATEGORIES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['XState (microsteps, actors, mailbox)', /node_modules\/xstate\//],
  ['schema (zod)', /node_modules\/zod\//],
  ['official SDK', /node_modules\/@anthropic-ai\//],
  ['RxJS', /node_modules\/rxjs\//],
  ['other packages', /node_modules\/(?!\.cache)/],
  ['machines: guards and actions', /\/machines\//],
  ['permission facts', /\/src\/permissions\//],
  ['model stream', /\/src\/model\//],
  ['messages and transcript', /\/src\/messages\//],
  ['hooks', /\/src\/hooks\//],
  ['settings', /\/src\/settings\//],
  ['results', /\/src\/results\//],
  ['tool protocol', /\/src\/tools?\//],
  ['session and ports', /\/src\//],
  ['bench', /\/test\/bench\//],
  [
    'Node: HTTP and fetch (undici)',
    /node:internal\/deps\/undici|node:_http|node:net|node:internal\/(streams|webstreams|http)|node:internal\/stream_base|node:internal\/js_stream/,
  ],
  ['Node: files', /node:(internal\/)?fs/],
  ['Node: other', /^node:/],
];

function categoryOf({ functionName, url }: ProfileNode['callFrame']): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collector';
  if (functionName === '(idle)') return 'idle';
  if (url === '') return undefined;
  return CATEGORIES.find(([, pattern]) => pattern.test(url))?.[0] ?? 'other';
}

/** Self time in microseconds of every category, and inclusive time of every function of the library, largest first. */
export function analyseProfile(profile: CpuProfile): { readonly categories: readonly Share[]; readonly functions: readonly Share[] } {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  const selfTime = new Map<number, number>();
  profile.samples.forEach((id, index) => {
    selfTime.set(id, (selfTime.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  });
  const isOfTheProfiler = (id: number): boolean => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      if (nodes.get(at)?.callFrame.url === 'node:inspector') return true;
    }
    return false;
  };
  const categories = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const [id, us] of selfTime) {
    if (isOfTheProfiler(id)) continue;
    let category: string | undefined;
    const seen = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (!frame) break;
      category ??= categoryOf(frame);
      const name = placeOf(frame);
      // A recursive function counts once.
      if (name === undefined || seen.has(name)) continue;
      seen.add(name);
      functions.set(name, (functions.get(name) ?? 0) + us);
    }
    const key = category ?? 'V8 and program start';
    categories.set(key, (categories.get(key) ?? 0) + us);
  }
  return { categories: sharesOf(categories), functions: sharesOf(functions) };
}

function placeOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string | undefined {
  const [, path] = /\/((?:src|machines)\/.*)\.js$/.exec(url) ?? [];
  if (path === undefined || url.includes('/test/bench/') || /node_modules\/(?!\.cache)/.test(url)) return undefined;
  return `${functionName || '(anonymous)'} ${path}.js:${lineNumber + 1}`;
}

const sharesOf = (times: ReadonlyMap<string, number>): readonly Share[] =>
  [...times].map(([name, us]) => ({ name, us })).sort((a, b) => b.us - a.us);
