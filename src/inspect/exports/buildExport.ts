import { createHash } from 'node:crypto';
import { messageOf } from '../../tool/errors.js';
import { isBelow } from '../protocol/actorPath.js';
import type { ActorStarted, FlowEvent, FlowRecording } from '../protocol/flowEvents.js';
import { flowText } from '../protocol/flowText.js';
import { toMermaid } from '../protocol/mermaid.js';
import type { ExportRequest, RpcError } from '../protocol/rpc.js';
import { toScxml } from '../protocol/scxml.js';
import { encodeRecording } from '../recording.js';
import { countMarks, type Redactor } from '../redact.js';
import type { ExportedFile } from '../server/methods.js';
import type { StaticFile } from '../server/staticFiles.js';
import { chromeTrace } from './chromeTrace.js';
import { singleFileHtml } from './html.js';
import { type MachineModule, regressionTest } from './regressionTest.js';

export interface ExportContext {
  readonly redactor: Redactor;
  /** The built page, for HTML. */
  page(): ReadonlyMap<string, StaticFile>;
  /** By machine id: where a generated test imports the machine from. The library's own machines are known. */
  readonly machineModules?: Readonly<Record<string, MachineModule>>;
}

/** The library's own machines, as its package offers them. */
const OWN_MACHINES: Readonly<Record<string, MachineModule>> = Object.fromEntries(
  ['executor', 'permission', 'query', 'session', 'toolCall', 'turn'].map((id) => [id, { from: 'sixgates', name: `${id}Machine` }]),
);

/** Makes an export. It is scanned once more before it leaves; a find refuses it unless `allowFindings` says otherwise. */
export function buildExport(taken: FlowRecording, request: ExportRequest, context: ExportContext): ExportedFile | RpcError {
  const recording = request.layouts === undefined ? taken : withLayouts(taken, request.layouts);
  // What the compressed formats hold is this text, so the scan reads it in their place.
  const content = flowText(recording);
  try {
    const file = make(recording, request, context);
    const scanned = file.encoding === 'base64' || request.kind === 'html' ? content : file.text;
    const findings = context.redactor.findings(scanned);
    if (findings.length > 0 && !request.allowFindings) {
      return {
        code: 'refused',
        message: `The export still holds what looks like a secret (${findings.join(', ')}). Look at it, or export with findings allowed.`,
      };
    }
    return {
      ...file,
      bytes: file.encoding === 'base64' ? Buffer.byteLength(file.text, 'base64') : Buffer.byteLength(file.text),
      redacted: countMarks(scanned),
    };
  } catch (error) {
    return { code: 'unsupported', message: messageOf(error) };
  }
}

/** Positions go along for the machines of the recording, beside those that it came with. */
function withLayouts(recording: FlowRecording, layouts: NonNullable<ExportRequest['layouts']>): FlowRecording {
  const known = new Set(recording.graphs.map(({ id }) => id));
  const added = Object.entries(layouts).filter(([id]) => known.has(id));
  return { ...recording, header: { ...recording.header, layouts: { ...recording.header.layouts, ...Object.fromEntries(added) } } };
}

function make(recording: FlowRecording, request: ExportRequest, context: ExportContext): Omit<ExportedFile, 'bytes' | 'redacted'> {
  const base = recording.header.name.replace(/[^A-Za-z0-9._-]+/g, '-') || 'flow';
  const text = (suffix: string, mime: string, body: string) => ({
    filename: `${base}${suffix}`,
    mime,
    encoding: 'utf8' as const,
    text: body,
  });
  switch (request.kind) {
    case 'recording':
      return {
        filename: `${base}.flow.jsonl.gz`,
        mime: 'application/gzip',
        encoding: 'base64',
        text: encodeRecording(recording).toString('base64'),
      };
    case 'html':
      return text('.html', 'text/html', singleFileHtml(recording, context.page()));
    case 'chromeTrace':
      return text('.trace.json', 'application/json', chromeTrace(recording));
    case 'vitest':
    case 'nodeTest': {
      const { actor, machine } = testedActor(recording, request);
      const module = context.machineModules?.[machine] ?? OWN_MACHINES[machine];
      if (!module)
        throw new Error(`Say where a test can import the machine "${machine}" from: machineModules: { "${machine}": { from, name } }.`);
      const file = regressionTest(recording, { runner: request.kind, actor, machine: module });
      const mark = createHash('sha256').update(actor).digest('hex').slice(0, 6);
      return text(`.${machine}-${mark}.test.mjs`, 'text/javascript', file);
    }
    case 'mermaid':
    case 'scxml': {
      const { actor, machine } = actorOf(recording, request);
      const graph = recording.graphs.find(({ id }) => id === machine);
      if (!graph) throw new Error(`The graph of "${machine}" is not in the recording.`);
      const last = recording.events.findLast((event) => event.type === 'transition' && event.actor === actor);
      const active = last?.type === 'transition' ? last.configuration : [];
      return request.kind === 'mermaid'
        ? text(`.${machine}.mmd`, 'text/vnd.mermaid', toMermaid(graph, { active }))
        : text(`.${machine}.scxml`, 'application/scxml+xml', toScxml(graph));
    }
  }
}

interface StartedMachine extends ActorStarted {
  readonly machine: string;
}
const isMachine = (event: FlowEvent): event is StartedMachine => event.type === 'actor.started' && event.machine !== null;

/**
 * The machine actor a test is made of. A session has always begun before it can be inspected, so in place of an actor whose first state
 * is not recorded the first one below it is taken whose is.
 */
function testedActor(recording: FlowRecording, request: ExportRequest): StartedMachine {
  const wanted = actorOf(recording, request);
  if (!wanted.late) return wanted;
  const isKnown = (event: FlowEvent): event is StartedMachine => isMachine(event) && !event.late && isBelow(event.actor, wanted.actor);
  return recording.events.find(isKnown) ?? wanted;
}

/** The machine a request speaks of: the actor itself, or the next machine above it; without one, the first machine of the recording. */
function actorOf({ header, events }: FlowRecording, request: ExportRequest): StartedMachine {
  if (header.source) {
    throw new Error(
      `This flow was read from the transcript ${header.source.file}. A transcript holds calls and results, not the events and states of a machine, so neither a regression test nor a chart can be made of it. Record a session (--record) to get them.`,
    );
  }
  if (request.actor === undefined) {
    const first = events.find(isMachine);
    if (first) return first;
    throw new Error('The recording holds no machine.');
  }
  const starts = new Map(events.flatMap((event) => (event.type === 'actor.started' ? [[event.actor, event] as const] : [])));
  // As many steps as there are actors, for a file may say that an actor is its own ancestor.
  let at = starts.get(request.actor);
  for (let steps = starts.size; at && steps > 0; steps--) {
    if (isMachine(at)) return at;
    at = starts.get(at.parent ?? '');
  }
  throw new Error(`"${request.actor}" is no machine of this recording.`);
}
