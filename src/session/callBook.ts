import type { HookResult } from '../hooks/types.js';
import type { JsonObject } from '../json.js';
import type { ToolVerdict } from '../permissions/types.js';
import { type CleanResult, MESSAGE_BUDGET_CHARS } from '../results/index.js';
import type { ToolUseRequest } from '../tool/call.js';
import type { AnyTool, SessionModifier } from '../tool/types.js';
import type { Conversation } from './conversation.js';
import type { SettledBefore } from './resumption.js';
import type { StoredResult } from './services.js';

/** What the ports keep of a call while its turn lasts: everything that is not plain JSON, or too large for a context. */
export interface CallRecord {
  readonly call: ToolUseRequest;
  readonly admittedAt: number;
  tool: AnyTool | undefined;
  /** The parsed input that the tool is called with. */
  input: JsonObject | undefined;
  /** The same with derived fields: what hooks, rules and observers see. */
  observable: JsonObject | undefined;
  digest: string;
  hook: HookResult | undefined;
  /** What the tool's own permission check said. */
  opinion: ToolVerdict;
  /** Where the call's paths led when its permission was decided. */
  resolvedPaths: Promise<Readonly<Record<string, string>>>;
  /** What the tool returned, or what it threw. */
  output: { readonly data: unknown } | { readonly error: unknown } | undefined;
  /** The same as its tool maps it, kept from the first time that is asked for until the draft. */
  mapped: CleanResult | undefined;
  modify: ((session: SessionModifier) => void) | undefined;
  /** The mapped result, until the outcome fixes it. */
  draft: StoredResult | undefined;
  result: StoredResult | undefined;
  /** The result is on the transcript. */
  isWritten: boolean;
  lastProgressAt: number;
}

const NO_PATHS: CallRecord['resolvedPaths'] = Promise.resolve({});

/** The calls of the running turn, by `tool_use` id. Ids are unique within a turn only, so every turn begins with an empty book. */
export class CallBook {
  private records = new Map<string, CallRecord>();
  /** Characters of the results written so far. */
  private written = 0;
  private asked: ReadonlySet<string> = new Set();

  /** `asked`: calls about which a person was being asked when an earlier process ended. */
  begin(asked: ReadonlySet<string> = new Set()): void {
    this.records = new Map();
    this.written = 0;
    this.asked = asked;
  }

  /** True for a call whose question an earlier process left open: opening its session again is no answer to it. */
  isStillAsked(callId: string): boolean {
    return this.asked.has(callId);
  }

  /**
   * Writes a fixed result to the transcript at once, as long as the turn's results fit their common budget: what goes beyond it
   * may yet be moved to a file, and is written when that is known.
   */
  writeWithinBudget(record: CallRecord, conversation: Conversation): void {
    if (!record.result || this.written + record.result.size > MESSAGE_BUDGET_CHARS) return;
    conversation.writeResult([record.result.block, ...record.result.images]);
    this.written += record.result.size;
    record.isWritten = true;
  }

  /** A call of the same answer that an earlier process settled: only its result counts. */
  restore({ call, result, images, isWritten }: SettledBefore, now: number): void {
    const size = typeof result.content === 'string' ? result.content.length : JSON.stringify(result.content ?? '').length;
    Object.assign(this.open(call, now), { result: { block: result, images, size, reminders: [] }, isWritten });
  }

  open(call: ToolUseRequest, now: number): CallRecord {
    const record: CallRecord = {
      call,
      admittedAt: now,
      tool: undefined,
      input: undefined,
      observable: undefined,
      digest: '',
      hook: undefined,
      opinion: { behavior: 'passthrough' },
      resolvedPaths: NO_PATHS,
      output: undefined,
      mapped: undefined,
      modify: undefined,
      draft: undefined,
      result: undefined,
      isWritten: false,
      lastProgressAt: Number.NEGATIVE_INFINITY,
    };
    this.records.set(call.id, record);
    return record;
  }

  get(callId: string): CallRecord {
    const record = this.records.get(callId);
    if (!record) throw new Error(`No call ${callId} is known in this turn.`);
    return record;
  }
  find(callId: string): CallRecord | undefined {
    return this.records.get(callId);
  }
  /** In block order. */
  all(): readonly CallRecord[] {
    return [...this.records.values()].sort((a, b) => a.call.index - b.call.index);
  }
}
