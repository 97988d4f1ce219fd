import type { CallClass } from '../../../machines/protocol.js';
import type { CallPortInput, GateAnswer, RewrittenInput } from '../../../machines/toolCall.js';
import { describeInputChange } from '../../hooks/input-change.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { inputDigest } from '../../permissions/digest.js';
import type { ToolUseRequest } from '../../tool/call.js';
import { closeNames, findTool, parseToolInput, toolInputJSONSchema } from '../../tool/index.js';
import type { InputRepair } from '../../tool/parse-input.js';
import type { AnyTool, ValidationVerdict } from '../../tool/types.js';
import type { CallRecord } from '../callBook.js';
import { asyncPort } from '../port.js';
import type { Services } from '../services.js';
import { toolContext } from '../toolContext.js';

const unsafe: GateAnswer = { type: 'call.weighed', safe: false, resourceKeys: [] };

/**
 * Admission: the record is opened, and scheduling learns whether this input may run beside others. What breaks here breaks again at
 * the gate that it belongs to, and is reported there; until then the call counts as unsafe.
 */
export function weighCall(call: ToolUseRequest, services: Services): GateAnswer {
  try {
    return weigh(services.calls.open(call, services.now()), services);
  } catch {
    return unsafe;
  }
}

function weigh(record: CallRecord, services: Services): GateAnswer {
  const { call } = record;
  const tool = findTool(services.pool(), call.name);
  if (!tool || call.input.kind !== 'object') return unsafe;
  const parsed = parseToolInput(tool, call.input.value);
  if (!parsed.ok || !isJsonObject(parsed.input)) return unsafe;
  accept(record, tool, parsed.input, services);
  noteRepairs(record, parsed.repairs, services);
  services.update({
    type: 'call.input',
    callId: call.id,
    tool: tool.name,
    title: titleOf(tool, parsed.input),
    input: observableOf(record),
  });
  return { type: 'call.weighed', ...classify(tool, parsed.input, services.cwd) };
}

/** Gate 1. A tool under a bare deny, or one that has left the pool meanwhile, is not there. */
export function resolveTool(callId: string, services: Services): GateAnswer {
  const record = services.calls.get(callId);
  const pool = services.pool();
  const tool = findTool(pool, record.call.name);
  if (!tool) return { type: 'tool.missing', message: services.isToolGone(record.call.name) ? toolGone(record) : noSuchTool(record, pool) };
  if (tool !== record.tool) Object.assign(record, { tool, input: undefined });
  const offer = services.offerOf(tool);
  if (offer !== 'offered') return { type: 'tool.missing', message: offer === 'deferred' ? notLoaded(tool, services) : schemaChanged(tool) };
  return {
    type: 'tool.resolved',
    tool: {
      toolName: tool.name,
      hasValidation: tool.validateInput !== undefined,
      hasOwnPermissions: tool.checkPermissions !== undefined,
      hasPreToolUseHooks: services.hooks.isConfigured('PreToolUse', tool.name),
      interruptBehavior: tool.interruptBehavior,
      cancelsSiblingsOnError: tool.onError === 'cancelSiblings',
    },
  };
}

/** Gate 2. The JSON was decided at block end; here it meets the schema. Admission has parsed it once already where it could. */
export function parseInput(callId: string, rewritten: RewrittenInput | null, services: Services): GateAnswer {
  const record = services.calls.get(callId);
  const tool = toolOf(record);
  if (rewritten === null && record.input !== undefined) return { type: 'input.accepted' };
  const { call } = record;
  if (rewritten === null && call.input.kind === 'invalid') {
    return { type: 'input.refused', message: notJson(tool, call.rawInput, call.input.reason) };
  }
  const value: JsonValue = rewritten?.value ?? (call.input.kind === 'object' ? call.input.value : null);
  if (rewritten !== null && !isJsonObject(value)) {
    return { type: 'input.refused', message: `Not executed: ${rewritten.by} replaced the input by something that is not an object.` };
  }
  const parsed = parseToolInput(tool, value, rewritten === null ? 'model' : 'answer');
  if (!parsed.ok) {
    const cause = rewritten ? `Not executed: ${rewritten.by} changed the input. ` : '';
    return { type: 'input.refused', message: `${cause}${parsed.message}` };
  }
  if (!isJsonObject(parsed.input)) return { type: 'input.refused', message: `The input of ${tool.name} must be a JSON object.` };
  if (rewritten !== null) noteRewrite(record, rewritten, parsed.input, services);
  accept(record, tool, parsed.input, services);
  noteRepairs(record, parsed.repairs, services);
  return { type: 'input.accepted' };
}

/** Gate 3: only where the tool validates by itself. */
export const validateInput = asyncPort<CallPortInput, ValidationVerdict>(async ({ callId }, { services, signal }) => {
  const record = services.calls.get(callId);
  const validate = async (): Promise<ValidationVerdict> =>
    readVerdict(toolOf(record), await toolOf(record).validateInput?.(inputOf(record), toolContext(record, services, signal)));
  return services.provider ? services.provider.ask(`validate:${callId}`, validate, signal) : validate();
});

/** What a validation without types answered: nothing to say is no objection, and what is no verdict is none to run on. */
function readVerdict(tool: AnyTool, given: unknown): ValidationVerdict {
  if (given === undefined || given === null) return { ok: true };
  const { ok, message }: { ok?: unknown; message?: unknown } = isJsonObject(given) ? given : {};
  if (ok === true) return { ok };
  const silent =
    ok === false ? `${tool.name} refused this input without a reason.` : `The check of ${tool.name}'s input gave no verdict ({ ok }).`;
  return { ok: false, message: typeof message === 'string' && message !== '' ? message : silent };
}

/** Fixes the input of a call: derived fields are added for hooks and rules to see, and approvals bind to the digest of exactly that. */
function accept(record: CallRecord, tool: AnyTool, input: JsonObject, services: Services): void {
  const derived: unknown = tool.backfillObservableInput?.(input, services.cwd);
  const observable = isJsonObject(derived) ? derived : input;
  Object.assign(record, { tool, input, observable, digest: inputDigest(observable) });
}

export function toolOf(record: CallRecord): AnyTool {
  if (!record.tool) throw new Error(`Call ${record.call.id} has no tool yet.`);
  return record.tool;
}
export function inputOf(record: CallRecord): JsonObject {
  if (!record.input) throw new Error(`Call ${record.call.id} has no parsed input yet.`);
  return record.input;
}
export const observableOf = (record: CallRecord): JsonObject => record.observable ?? inputOf(record);

/** Fail closed: a predicate that throws says unsafe. */
function classify(tool: AnyTool, input: JsonObject, cwd: string): CallClass {
  try {
    return { safe: tool.isConcurrencySafe(input) === true, resourceKeys: tool.resourceKeys?.(input, cwd) ?? [] };
  } catch {
    return { safe: false, resourceKeys: [] };
  }
}

function titleOf(tool: AnyTool, input: JsonObject): string {
  try {
    return tool.renderToolUseMessage(input).title;
  } catch {
    return tool.name;
  }
}

function noSuchTool({ call }: CallRecord, pool: readonly AnyTool[]): string {
  const close = closeNames(pool, call.name);
  const hint = close.length > 0 ? ` Did you mean ${close.join(' or ')}?` : '';
  return `No such tool available: ${call.name}.${hint}`;
}

const toolGone = ({ call }: CallRecord): string =>
  `Not executed: tool removed. The MCP server of ${call.name} no longer offers it; go on without it.`;

const schemaChanged = (tool: AnyTool): string =>
  `Not executed: the parameters of ${tool.name} have changed since you were given them. Its input schema is now: ` +
  `${JSON.stringify(toolInputJSONSchema(tool))}. Call it again with input that fits.`;

function notLoaded(tool: AnyTool, services: Services): string {
  const match = services.capabilities.toolSearch?.search(`select:${tool.name}`, 1)[0];
  const schema = match ? ` Its input schema is: ${JSON.stringify(match.inputSchema)}` : '';
  return `Not executed: the tool ${tool.name} is deferred and has not been loaded. Call ToolSearch with {"query":"select:${tool.name}"} first.${schema}`;
}

function notJson(tool: AnyTool, raw: string, reason: string): string {
  return `Not executed: the input of ${tool.name} is not valid JSON (${reason}). The text was: ${JSON.stringify({ INVALID_JSON: raw })}`;
}

const REPAIRED: Readonly<Record<InputRepair['kind'], string>> = {
  nullAsAbsent: 'null counts as left out',
  boolean: 'a text taken for the boolean it names',
  number: 'a text taken for the number it names',
  json: 'a text taken for what it is the JSON of',
  hostKeyRemoved: 'removed, since a host adds it',
};

/** What a tool runs with is not always what the model wrote to the letter; whoever watches is told the difference. */
function noteRepairs({ call }: CallRecord, repairs: readonly InputRepair[], services: Services): void {
  if (repairs.length === 0) return;
  const parts = repairs.slice(0, 5).map(({ path, kind }) => `${path} (${REPAIRED[kind]})`);
  const more = repairs.length > parts.length ? ` and ${repairs.length - parts.length} more` : '';
  services.update({
    type: 'notice',
    level: 'info',
    message: `The input of ${call.name} (${call.id}) was mended: ${parts.join(', ')}${more}`,
  });
}

function noteRewrite(record: CallRecord, rewritten: RewrittenInput, after: JsonObject, services: Services): void {
  const { dropped, changed, added } = describeInputChange(record.input ?? {}, after);
  const parts = [
    ['dropped', dropped],
    ['changed', changed],
    ['added', added],
  ] as const;
  const text = parts.flatMap(([word, keys]) => (keys.length > 0 ? [`${word} ${keys.join(', ')}`] : [])).join('; ');
  services.update({
    type: 'notice',
    level: 'info',
    message: `${rewritten.by} rewrote the input of ${record.call.name}: ${text || 'no key differs'}`,
  });
}
