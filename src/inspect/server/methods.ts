import type { ApprovalDesk } from '../approvalDesk.js';
import { textPart } from '../bodyStore.js';
import type { FlowLog } from '../flowLog.js';
import type { DebugGate } from '../gate/debugGate.js';
import {
  CONTROL_METHODS,
  type Counters,
  type ExportRequest,
  type HeldState,
  MAX_LISTED_EVENTS,
  type RpcError,
  type RpcResult,
  type Scope,
  type ServerMethod,
} from '../protocol/rpc.js';
import { argumentSchemas } from '../protocol/rpcSchemas.js';

export interface ExportedFile {
  readonly filename: string;
  readonly mime: string;
  readonly encoding: 'utf8' | 'base64';
  /** Encoded. */
  readonly text: string;
  readonly bytes: number;
  readonly redacted: readonly { readonly rule: string; readonly count: number }[];
}
/** What the methods work on; one for all clients. */
export interface InspectedFlow {
  readonly log: FlowLog;
  /** The flow is over: it was read from a file. */
  readonly isRecorded?: boolean;
  readonly gate?: DebugGate;
  readonly desk?: ApprovalDesk;
  /** Goes on with a copy from the last settled point before an event. */
  readonly restart?: (seq: number, words: string) => Promise<{ readonly url: string } | RpcError>;
  /** Called before a page is let in. */
  readonly onPage?: () => void;
  readonly buildExport?: (request: ExportRequest) => ExportedFile | RpcError;
  /** `clients`: pages connected now. */
  counters(clients: number): Counters;
}
export interface MethodCaller {
  readonly id: string;
  readonly scope: Scope;
  clients(): number;
  subscribe(fromSeq: number): void;
  audit(method: string, detail: unknown, outcome: string): void;
}

type Method = (...args: unknown[]) => Promise<RpcResult<unknown>>;
const MAX_EXPORTS_KEPT = 4;
const NOT_HELD: HeldState = { paused: false, why: null, held: [], frozenTimers: 0, resumesInMs: null };

/** The methods one client may call, by name: scope and arguments are checked before any of them runs. */
export function methodsFor(flow: InspectedFlow, caller: MethodCaller): ReadonlyMap<string, Method> {
  const { log, gate, desk } = flow;
  const exports = new Map<string, ExportedFile>();
  const noGate = fail('unsupported', 'This flow was started without a gate: it cannot be paused. Create the session with one.');
  const held = (act: (gate: DebugGate) => void): RpcResult<HeldState> => {
    if (!gate) return noGate;
    act(gate);
    return done(gate.state);
  };
  const handlers: { [M in ServerMethod]: (args: ArgumentsOf<M>) => RpcResult<unknown> | Promise<RpcResult<unknown>> } = {
    hello: () =>
      done({
        scope: caller.scope,
        clientId: caller.id,
        header: log.header,
        counters: flow.counters(caller.clients()),
        held: gate?.state ?? NOT_HELD,
        isRecorded: flow.isRecorded ?? false,
        canRestart: flow.restart !== undefined,
        canPause: gate !== undefined,
        canAnswer: desk !== undefined,
        breakpoints: gate?.breakpoints ?? [],
        approvals: desk?.pending ?? [],
      }),
    subscribe: ([{ fromSeq }]) => {
      caller.subscribe(fromSeq);
      return done({ firstSeq: log.firstSeq, lastSeq: log.lastSeq });
    },
    listEvents: ([{ fromSeq, toSeq }]) => done({ events: log.events(fromSeq, toSeq, MAX_LISTED_EVENTS) }),
    body: ([{ hash, offset }]) => {
      const part = log.bodies.part(hash, offset);
      return part ? done(part) : fail('notFound', 'This body is not in memory any more. A recording keeps it.');
    },
    graphs: () => done(log.graphs),
    pause: () => held((g) => g.pause(caller.id)),
    resume: () => held((g) => g.resume(caller.id)),
    step: ([{ actor }]) => held((g) => g.step({ by: caller.id, ...(actor === undefined ? {} : { actor }) })),
    runToEnd: ([{ actor }]) => held((g) => g.runToEnd(actor, caller.id)),
    setBreakpoints: ([{ breakpoints }]) => {
      if (!gate) return noGate;
      gate.setBreakpoints(breakpoints.map(({ actor, ...rest }) => (actor === undefined ? rest : { ...rest, actor })));
      return done(gate.breakpoints);
    },
    answer: ([{ updatedInput, answers, remember, message, interrupt, ...rest }]) => {
      if (!desk) return fail('unsupported', 'Questions of this flow are answered elsewhere.');
      const error = desk.answer({
        ...rest,
        ...(updatedInput === undefined ? {} : { updatedInput }),
        ...(answers === undefined ? {} : { answers }),
        ...(remember === undefined ? {} : { remember }),
        ...(message === undefined ? {} : { message }),
        ...(interrupt === undefined ? {} : { interrupt }),
      });
      return error ? { ok: false, error } : done({ accepted: true });
    },
    restart: async ([{ seq, words }]) => {
      if (!flow.restart) return fail('unsupported', 'This flow cannot be gone on with from a step: its inspector was not told how.');
      const made = await flow.restart(seq, words);
      return 'code' in made ? { ok: false, error: made } : done(made);
    },
    export: ([{ range, actor, layouts, allowFindings, kind }]) => {
      if (!flow.buildExport) return fail('unsupported', 'This server does not export.');
      const made = flow.buildExport({
        kind,
        ...(range === undefined ? {} : { range }),
        ...(actor === undefined ? {} : { actor }),
        ...(layouts === undefined ? {} : { layouts }),
        ...(allowFindings === undefined ? {} : { allowFindings }),
      });
      if ('code' in made) return { ok: false, error: made };
      const id = `export-${exports.size + 1}-${Math.floor(log.elapsed)}`;
      exports.set(id, made);
      for (const [oldest] of exports) if (exports.size > MAX_EXPORTS_KEPT) exports.delete(oldest);
      const { text, ...about } = made;
      return done({ id, ...about, totalChars: text.length });
    },
    exportPart: ([{ id, offset }]) => {
      const made = exports.get(id);
      return made ? done(textPart(made.text, offset)) : fail('notFound', 'This export is gone. Export again.');
    },
  };

  const methods = new Map<string, Method>();
  const add = <M extends ServerMethod>(name: M): void => {
    methods.set(name, async (...args) => {
      const control = CONTROL_METHODS.has(name);
      if (control && caller.scope !== 'control') {
        caller.audit(name, null, 'forbidden');
        return fail('forbidden', 'This link only views. Use the control link that was printed at the start.');
      }
      const parsed = parseArguments(name, args);
      if (!parsed.ok) return parsed;
      try {
        const result = await handlers[name](parsed.value);
        if (control) caller.audit(name, args[0] ?? null, result.ok ? 'done' : result.error.code);
        return result;
      } catch (error) {
        log.faults++;
        return fail('internal', error instanceof Error ? log.text(error.message) : 'The inspector failed.');
      }
    });
  };
  for (const name of methodNames) add(name);
  return methods;
}

type Schemas = typeof argumentSchemas;
type ArgumentsOf<M extends ServerMethod> = Schemas[M]['_output'];
const methodNames: readonly ServerMethod[] = Object.keys(argumentSchemas).filter(isMethod);
function isMethod(name: string): name is ServerMethod {
  return Object.hasOwn(argumentSchemas, name);
}

function parseArguments<M extends ServerMethod>(name: M, args: readonly unknown[]): RpcResult<ArgumentsOf<M>> {
  const parsed = argumentSchemas[name].safeParse(args);
  if (parsed.success) return done(parsed.data as ArgumentsOf<M>);
  const issue = parsed.error.issues[0];
  return fail('invalidArguments', `${name}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message ?? 'not valid'}`);
}

function done<T>(value: T): RpcResult<T> {
  return { ok: true, value };
}
function fail(code: RpcError['code'], message: string): RpcResult<never> {
  return { ok: false, error: { code, message } };
}
export const unknownMethod = async (): Promise<RpcResult<never>> => fail('unknownMethod', 'This server knows no such method.');
