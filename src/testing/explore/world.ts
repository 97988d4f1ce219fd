import type { GateAnswer, RewrittenInput } from '../../../machines/toolCall.js';
import type { HookResult } from '../../hooks/types.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { inputDigest } from '../../permissions/digest.js';
import { PermissionEngine } from '../../permissions/engine.js';
import type { PathFs } from '../../permissions/paths.js';
import { nodePathFs } from '../../permissions/paths.js';
import type { ToolVerdict, TraceEntry } from '../../permissions/types.js';
import { boundsOf } from '../../settings/load.js';
import type { LoadedSettings } from '../../settings/types.js';
import { closeNames, findTool, parseToolInput } from '../../tool/index.js';
import type { AnyTool } from '../../tool/types.js';
import { type CallCase, type ModeCase, permissionMode } from './types.js';

export interface WorldOptions {
  readonly settings: LoadedSettings;
  readonly cwd: string;
  readonly home: string;
  readonly tools: readonly AnyTool[];
  readonly mcpServers: readonly string[];
  readonly fs?: PathFs;
}

/** What a machine asks the gates that need not wait, answered by the code that answers in a session. */
export class World {
  private readonly engines = new Map<ModeCase, PermissionEngine>();
  private readonly fs: PathFs;

  constructor(
    readonly options: WorldOptions,
    calls: readonly CallCase[],
  ) {
    this.fs = withLinks(options.fs ?? nodePathFs, Object.assign({}, ...calls.map(({ links }) => links ?? {})));
  }

  engine(mode: ModeCase): PermissionEngine {
    const known = this.engines.get(mode);
    if (known !== undefined) return known;
    const { settings, cwd, home, tools, mcpServers } = this.options;
    const engine = new PermissionEngine({
      rules: settings.rules,
      ...boundsOf(settings),
      mode: permissionMode(mode),
      cwd,
      home,
      canAsk: true,
      hasClassifier: mode === 'autoWithClassifier',
      toolNames: tools.map(({ name }) => name),
      mcpServers,
      fs: this.fs,
    });
    this.engines.set(mode, engine);
    return engine;
  }

  /** The tools that the model is shown: a bare deny rule takes one away. */
  pool(mode: ModeCase): readonly AnyTool[] {
    return this.options.tools.filter((tool) => !this.engine(mode).isToolHidden(tool.name, tool.mcp));
  }

  tool(call: CallCase, mode: ModeCase): AnyTool | undefined {
    return findTool(this.pool(mode), call.tool);
  }

  resolve(call: CallCase, mode: ModeCase, hasHooks: boolean): GateAnswer {
    const tool = this.tool(call, mode);
    if (tool === undefined) {
      const close = closeNames(this.pool(mode), call.tool);
      const hint = close.length > 0 ? ` Did you mean ${close.join(' or ')}?` : '';
      return { type: 'tool.missing', message: `No such tool available: ${call.tool}.${hint}` };
    }
    return {
      type: 'tool.resolved',
      tool: {
        toolName: tool.name,
        hasValidation: tool.validateInput !== undefined,
        hasOwnPermissions: tool.checkPermissions !== undefined,
        hasPreToolUseHooks: hasHooks,
        interruptBehavior: tool.interruptBehavior,
        cancelsSiblingsOnError: tool.onError === 'cancelSiblings',
      },
    };
  }

  /** The input with derived fields, as hooks see it. */
  observed(call: CallCase, mode: ModeCase): JsonObject {
    const tool = this.tool(call, mode);
    const parsed = tool === undefined ? undefined : parseToolInput(tool, call.input);
    return tool !== undefined && parsed?.ok && isJsonObject(parsed.input) ? this.observable(tool, parsed.input) : call.input;
  }

  parse(call: CallCase, mode: ModeCase, rewritten: RewrittenInput | null): GateAnswer {
    const tool = this.tool(call, mode);
    if (tool === undefined) return { type: 'gate.broke', gate: 'parsing the input', reason: `There is no tool ${call.tool}` };
    const parsed = rewritten === null ? parseToolInput(tool, call.input) : parseToolInput(tool, rewritten.value, 'answer');
    if (!parsed.ok) return { type: 'input.refused', message: parsed.message };
    if (!isJsonObject(parsed.input)) return { type: 'input.refused', message: `The input of ${tool.name} must be a JSON object.` };
    return { type: 'input.accepted' };
  }

  /** The facts of a call, and what an approval of its present input binds to. */
  gather(
    call: CallCase,
    mode: ModeCase,
    more: {
      readonly hook: HookResult | null;
      readonly rewritten: RewrittenInput | null;
      readonly opinion: ToolVerdict;
      readonly canAsk: boolean;
      readonly hasRequestHooks: boolean;
    },
  ): Extract<GateAnswer, { type: 'facts.gathered' }> {
    const { rewritten } = more;
    const tool = this.tool(call, mode);
    const answered = rewritten !== null && isJsonObject(rewritten.value) ? rewritten.value : undefined;
    const given = answered ?? call.input;
    const parsed = tool === undefined ? undefined : parseToolInput(tool, given, answered === undefined ? 'model' : 'answer');
    const rawInput = parsed?.ok && isJsonObject(parsed.input) ? parsed.input : given;
    const input = tool === undefined ? rawInput : this.observable(tool, rawInput);
    const facts = this.engine(mode).facts({
      toolName: tool?.name ?? call.tool,
      input,
      rawInput,
      hook: more.hook?.verdict ?? null,
      hookSuppliedInput: more.hook?.updatedInput !== undefined,
      tool: more.opinion,
      requiresUserInteraction: tool?.requiresUserInteraction(rawInput) === true,
      ...(tool === undefined ? {} : { readOnly: tool.isReadOnly(rawInput) === true }),
      ...(tool?.mcp === undefined ? {} : { mcp: tool.mcp }),
      ...(tool?.preparePermissionMatcher === undefined ? {} : { matchesContent: tool.preparePermissionMatcher(rawInput) }),
    });
    const approval: TraceEntry | null = rewritten?.approval ?? null;
    return {
      type: 'facts.gathered',
      facts: {
        ...facts,
        canAsk: more.canAsk,
        hasPermissionRequestHooks: more.hasRequestHooks,
        ...(approval === null ? {} : { approval }),
      },
      digest: inputDigest(input),
    };
  }

  private observable(tool: AnyTool, input: JsonObject): JsonObject {
    const derived: unknown = tool.backfillObservableInput?.(input, this.options.cwd);
    return isJsonObject(derived) ? derived : input;
  }
}

function withLinks(fs: PathFs, links: Readonly<Record<string, string>>): PathFs {
  return { readlink: (path) => links[path] ?? fs.readlink(path), readdir: (path) => fs.readdir(path) };
}
