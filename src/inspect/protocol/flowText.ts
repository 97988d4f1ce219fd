import { parseJson } from '../../json.js';
import { EventJson, REF_FIELDS, refIn } from './eventJson.js';
import type { BodyRef, FlowBody, FlowEvent, FlowEventType, FlowGraph, FlowHeader, FlowRecording } from './flowEvents.js';
import { FLOW_FORMAT, PREVIEW_CHARS } from './flowEvents.js';
import type { MachineGraph } from './graph.js';

/** Bodies remembered as written; one that comes again after so many others is written again. */
const REMEMBERED_BODIES = 50_000;

/** Where a writer looks up what events name. */
export interface FlowTextSources {
  /** Redacted JSON text, not checked any more. */
  readonly bodyOf: (hash: string) => string | undefined;
  readonly graphOf: (id: string) => MachineGraph | undefined;
}

/**
 * Writes a flow line by line. A graph and a body are written once, right before the first event that names them, so that a
 * file cut anywhere still explains every event it holds, and writing a read recording again gives the same bytes.
 */
export class FlowTextWriter {
  #written = new Set<string>();
  #writtenBefore = new Set<string>();
  readonly #graphsWritten = new Set<string>();
  readonly #json = new EventJson();

  constructor(readonly sources: FlowTextSources) {}

  /** The lines of one event, each ending in a line break. */
  lines(event: FlowEvent): string {
    if (event.type === 'transition') return `${this.#json.of(event)}\n`;
    let before = event.type === 'actor.started' && event.machine !== null ? this.#graph(event.machine) : '';
    // Previews are left out where all bodies of the event are there.
    let brief = true;
    for (const field of REF_FIELDS) {
      const ref = refIn(event, field);
      const line = ref === undefined ? '' : this.#body(ref.hash);
      if (line === undefined) brief = false;
      else before += line;
    }
    return `${before}${this.#json.of(event, brief)}\n`;
  }

  #graph(id: string): string {
    const graph = this.#graphsWritten.has(id) ? undefined : this.sources.graphOf(id);
    if (!graph) return '';
    this.#graphsWritten.add(graph.id);
    return `${JSON.stringify({ type: 'graph', graph } satisfies FlowGraph)}\n`;
  }

  /** The line of a body; empty when it was written before, undefined when there is none. */
  #body(hash: string): string | undefined {
    if (this.#written.has(hash)) return '';
    const text = this.#writtenBefore.has(hash) ? '' : this.sources.bodyOf(hash);
    if (text === undefined) return undefined;
    this.#written.add(hash);
    if (this.#written.size > REMEMBERED_BODIES) {
      this.#writtenBefore = this.#written;
      this.#written = new Set();
    }
    return text === '' ? '' : `${bodyStart(hash)}${text}}\n`;
  }
}

const bodyStart = (hash: string): string => `{"type":"body","hash":${JSON.stringify(hash)},"json":`;

/** A whole recording as text, uncompressed. */
export function flowText(recording: FlowRecording): string {
  const graphs = new Map(recording.graphs.map((graph) => [graph.id, graph]));
  const writer = new FlowTextWriter({
    bodyOf: (hash) => {
      const text = recording.bodies.get(hash);
      return text === undefined || parseJson(text) === undefined ? undefined : text;
    },
    graphOf: (id) => graphs.get(id),
  });
  return [recording.header, ...recording.events].map((event) => writer.lines(event)).join('');
}

export function bodyRefs(event: FlowEvent): readonly BodyRef[] {
  return REF_FIELDS.flatMap((field) => refIn(event, field) ?? []);
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
  const lines = text.split(/\r?\n/);
  const warnings: string[] = [];
  const header = headerOf(lines[0] ?? '');
  const events: FlowEvent[] = [];
  const bodies = new Map<string, string>();
  const graphs: MachineGraph[] = [];
  let lastSeq = 0;
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === '') continue;
    const parsed = parseJson(line);
    if (isBody(parsed)) bodies.set(parsed.hash, bodyText(parsed, line));
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
      events.push(withPreviews(parsed, bodies));
    }
  }
  return { header, events, bodies, graphs, warnings };
}

function headerOf(line: string): FlowHeader {
  const parsed = parseJson(line);
  if (isFlowEvent(parsed) && parsed.type === 'header') {
    const format: string = parsed.format;
    if (format === FLOW_FORMAT || format === OLD_FORMAT) return { ...parsed, format: FLOW_FORMAT };
    throw new NotAFlowError(`This recording has format "${format}"; this version reads "${FLOW_FORMAT}" and "${OLD_FORMAT}".`);
  }
  const entry = isRecord(parsed) && (typeof parsed.sessionId === 'string' || typeof parsed.uuid === 'string');
  const hint = entry ? ' A Claude Code transcript opens with `sixgates inspect <file>`.' : '';
  throw new NotAFlowError(`This is no flow recording: its first line must be a header with "format":"${FLOW_FORMAT}".${hint}`);
}

/** In which a body's line held `text`, and every name of a body its preview. */
const OLD_FORMAT = 'flow/1';

interface OldBody {
  readonly type: 'body';
  readonly hash: string;
  readonly text: string;
}

function bodyText(body: FlowBody | OldBody, line: string): string {
  if ('text' in body) return body.text;
  const start = bodyStart(body.hash);
  return line.startsWith(start) ? line.slice(start.length, -1) : JSON.stringify(body.json);
}

function withPreviews(event: FlowEvent, bodies: ReadonlyMap<string, string>): FlowEvent {
  let whole = event;
  for (const field of REF_FIELDS) {
    const ref = refIn(event, field);
    if (ref === undefined || typeof ref.preview === 'string') continue;
    const { hash, bytes, ...rest } = ref;
    whole = { ...whole, [field]: { hash, bytes, ...rest, preview: (bodies.get(hash) ?? '').slice(0, PREVIEW_CHARS) } };
  }
  return whole;
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

function isBody(value: unknown): value is FlowBody | OldBody {
  if (!isRecord(value) || value.type !== 'body' || typeof value.hash !== 'string') return false;
  return 'text' in value ? typeof value.text === 'string' : 'json' in value;
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
