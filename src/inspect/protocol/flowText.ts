import type { BodyRef, FlowBody, FlowEvent, FlowEventType, FlowGraph, FlowHeader, FlowLine, FlowRecording } from './flowEvents.js';
import { FLOW_FORMAT } from './flowEvents.js';
import type { MachineGraph } from './graph.js';

/**
 * Writes a flow line by line. A graph and a body are written once, right before the first event that names them, so that a
 * file cut anywhere still explains every event it holds, and writing a read recording again gives the same bytes.
 */
export class FlowTextWriter {
  readonly #written = new Set<string>();
  readonly #graphsWritten = new Set<string>();

  constructor(
    readonly bodyOf: (hash: string) => string | undefined,
    readonly graphOf: (id: string) => MachineGraph | undefined,
  ) {}

  /** The lines of one event, each ending in a line break. */
  lines(event: FlowEvent): string {
    let text = '';
    const write = (line: FlowLine): void => {
      text += `${JSON.stringify(line)}\n`;
    };
    const machine = event.type === 'actor.started' ? event.machine : null;
    const graph = machine === null || this.#graphsWritten.has(machine) ? undefined : this.graphOf(machine);
    if (graph) {
      this.#graphsWritten.add(graph.id);
      write({ type: 'graph', graph });
    }
    for (const { hash } of bodyRefs(event)) {
      const body = this.#written.has(hash) ? undefined : this.bodyOf(hash);
      if (body === undefined) continue;
      this.#written.add(hash);
      write({ type: 'body', hash, text: body });
    }
    write(event);
    return text;
  }
}

/** A whole recording as text, uncompressed. */
export function flowText(recording: FlowRecording): string {
  const graphs = new Map(recording.graphs.map((graph) => [graph.id, graph]));
  const writer = new FlowTextWriter(
    (hash) => recording.bodies.get(hash),
    (id) => graphs.get(id),
  );
  return [recording.header, ...recording.events].map((event) => writer.lines(event)).join('');
}

export function bodyRefs(event: FlowEvent): readonly BodyRef[] {
  const refs: BodyRef[] = [];
  if ('input' in event && event.input) refs.push(event.input);
  if ('output' in event && event.output) refs.push(event.output);
  if ('body' in event && event.body) refs.push(event.body);
  return refs;
}

/** What a file holds that is no flow at all. */
export class NotAFlowError extends Error {
  /** Names the class, for what crosses a copy of this package. */
  override readonly name = 'NotAFlowError';
}

/**
 * Reads the text of a recording. Damage is told, not fatal: a cut last line, a line that is no event and events out of order are
 * left out with a warning. Throws `NotAFlowError` when the first line is no header of this format.
 */
export function parseFlowText(text: string): FlowRecording {
  const lines = text.split('\n');
  const warnings: string[] = [];
  const header = headerOf(lines[0] ?? '');
  const events: FlowEvent[] = [];
  const bodies = new Map<string, string>();
  const graphs: MachineGraph[] = [];
  let lastSeq = 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === '') continue;
    const parsed = parse(line);
    if (isBody(parsed)) bodies.set(parsed.hash, parsed.text);
    else if (isGraph(parsed)) graphs.push(parsed.graph);
    else if (!isFlowEvent(parsed)) {
      const cut = index === lines.length - 1;
      warnings.push(
        cut ? `The recording ends in the middle of line ${index + 1}.` : `Line ${index + 1} is no flow event and was left out.`,
      );
    } else if (parsed.seq <= lastSeq) warnings.push(`Line ${index + 1} repeats event ${parsed.seq} and was left out.`);
    else {
      if (parsed.seq > lastSeq + 1) warnings.push(`Events ${lastSeq + 1} to ${parsed.seq - 1} are missing.`);
      lastSeq = parsed.seq;
      events.push(parsed);
    }
  }
  return { header, events, bodies, graphs, warnings };
}

function headerOf(line: string): FlowHeader {
  const parsed = parse(line);
  if (isFlowEvent(parsed) && parsed.type === 'header') {
    if (parsed.format === FLOW_FORMAT) return parsed;
    throw new NotAFlowError(`This recording has format "${String(parsed.format)}"; this version reads "${FLOW_FORMAT}".`);
  }
  const entry = isRecord(parsed) && (typeof parsed.sessionId === 'string' || typeof parsed.uuid === 'string');
  const hint = entry ? ' A Claude Code transcript opens with `sixgates inspect <file>`.' : '';
  throw new NotAFlowError(`This is no flow recording: its first line must be a header with "format":"${FLOW_FORMAT}".${hint}`);
}

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'nullable';
/** Fields without which an event cannot be shown. Other fields are optional or new. */
const REQUIRED: Readonly<Record<FlowEventType, Readonly<Record<string, FieldType>>>> = {
  header: { format: 'string', name: 'string', startedAt: 'number', runtime: 'object', redaction: 'object' },
  'actor.started': { actor: 'string', parent: 'nullable', kind: 'string', machine: 'nullable', name: 'string', label: 'string' },
  'actor.stopped': { actor: 'string', status: 'string' },
  event: { actor: 'string', source: 'nullable', event: 'string' },
  transition: { actor: 'string', event: 'string', from: 'array', to: 'array', configuration: 'array', edges: 'array', micro: 'number' },
  ignored: { actor: 'string', event: 'string' },
  decision: { toolUseId: 'string', toolName: 'string', mode: 'string', decision: 'object' },
  hook: { run: 'object' },
  progress: { toolUseId: 'string' },
  result: { toolUseId: 'string', toolName: 'string', outcome: 'string', isError: 'boolean', summary: 'string', body: 'object' },
  model: { phase: 'string', requestId: 'string', model: 'string' },
  context: { actor: 'string', body: 'object' },
  approval: { toolUseId: 'string', toolName: 'string', phase: 'string' },
  control: { action: 'string', by: 'string' },
  error: { actor: 'string', message: 'string' },
  note: { level: 'string', text: 'string' },
  gap: { from: 'number', to: 'number', reason: 'string' },
};

/** True for a value that has the shape of a flow event of a known type. */
export function isFlowEvent(value: unknown): value is FlowEvent {
  if (!isRecord(value) || typeof value.type !== 'string' || !Object.hasOwn(REQUIRED, value.type)) return false;
  if (!Number.isInteger(value.seq) || typeof value.t !== 'number' || !Number.isFinite(value.t)) return false;
  const fields = Object.entries(REQUIRED).find(([type]) => type === value.type)?.[1] ?? {};
  return Object.entries(fields).every(([key, type]) => hasType(value[key], type));
}

function hasType(value: unknown, type: FieldType): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value) && !Array.isArray(value);
  if (type === 'nullable') return value === null || typeof value === 'string';
  return typeof value === type;
}

function isBody(value: unknown): value is FlowBody {
  return isRecord(value) && value.type === 'body' && typeof value.hash === 'string' && typeof value.text === 'string';
}
function isGraph(value: unknown): value is FlowGraph {
  return (
    isRecord(value) &&
    value.type === 'graph' &&
    isRecord(value.graph) &&
    typeof value.graph.id === 'string' &&
    Array.isArray(value.graph.nodes) &&
    Array.isArray(value.graph.edges)
  );
}
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
