import type { HookResult } from '../hooks/types.js';
import type { JsonObject } from '../json.js';
import type { ToolVerdict } from '../permissions/types.js';
import type { ToolUseRequest } from '../tool/call.js';
import type { AnyTool, SessionModifier } from '../tool/types.js';
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
  /** What the tool returned, or what it threw. */
  output: { readonly data: unknown } | { readonly error: unknown } | undefined;
  modify: ((session: SessionModifier) => void) | undefined;
  /** The mapped result, until the outcome fixes it. */
  draft: StoredResult | undefined;
  result: StoredResult | undefined;
  lastProgressAt: number;
}

/** The calls of the running turn, by `tool_use` id. Ids are unique within a turn only, so every turn begins with an empty book. */
export class CallBook {
  private records = new Map<string, CallRecord>();

  begin(): void {
    this.records = new Map();
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
      output: undefined,
      modify: undefined,
      draft: undefined,
      result: undefined,
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
