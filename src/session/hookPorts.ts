import type { HookPorts } from '../hooks/runner-types.js';
import type { McpServers } from '../mcp/servers.js';
import type { Usage } from '../messages/types.js';
import type { ModelClient } from '../model/types.js';
import { createRuleCheck, type RuleCheckOptions } from '../permissions/speaksOf.js';
import type { ResultStore } from '../results/index.js';
import type { AnyTool } from '../tool/types.js';
import { completeText } from './completion.js';

/** A hook's question wants a yes or a no with a sentence. */
const PROMPT_HOOK_TOKENS = 1_024;

/** What the hooks of a session may use of it. Functions are asked when a hook runs. */
export interface HookWorld extends RuleCheckOptions {
  readonly sessionId: string;
  readonly servers: Pick<McpServers, 'callText'>;
  readonly model: { readonly client: ModelClient; readonly id: string };
  results(): ResultStore;
  cwdNow(): string;
  findTool(name: string): AnyTool | undefined;
  spendOn(usage: Usage): void;
  notify(text: string): void;
}

/** The session as its hooks reach it: its rules' grammar, its model, its MCP servers, its files, its inbox. */
export function hookPorts(world: HookWorld): HookPorts {
  const speaksOf = createRuleCheck(world);
  // Kept as it is now: a prompt hook is part of its event's answer, and whoever writes answers down writes that one down whole.
  const { client, id: ownModel } = world.model;
  let asked = 0;
  return {
    matchesRule: (rule, toolName, input) => {
      const tool = world.findTool(toolName);
      const call = {
        toolName,
        input,
        ...(tool?.mcp === undefined ? {} : { mcp: tool.mcp }),
        ...(tool?.preparePermissionMatcher === undefined ? {} : { matchesContent: tool.preparePermissionMatcher(input) }),
      };
      return speaksOf(rule, call, world.cwdNow());
    },
    mcpTool: (call) => world.servers.callText(call),
    model: {
      complete: async (prompt, { model, signal }) => {
        asked += 1;
        const request = {
          id: `model:${world.sessionId}:hook-${asked}`,
          model: model ?? ownModel,
          maxTokens: PROMPT_HOOK_TOKENS,
          system: undefined,
          tools: [],
          messages: [{ role: 'user' as const, content: prompt }],
        };
        const { text, end } = await completeText(client, request, signal, 'The question to the model was interrupted.');
        if (end.usage) world.spendOn(end.usage);
        if (end.kind === 'broken') throw new Error(end.error.message);
        return text;
      },
    },
    persistText: async (text, name) => {
      const stored = world.results().put(`${name}.txt`, text);
      const failure = await stored.done;
      if (failure !== undefined) throw new Error(`it could not be kept in a file: ${failure}`);
      return stored.path;
    },
    onAsyncResult: ({ additionalContext, wake }) => {
      for (const text of [...additionalContext, ...(wake ? [wake.reason] : [])]) if (text.trim() !== '') world.notify(text);
    },
  };
}
