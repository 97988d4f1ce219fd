import { describe, expect, it } from 'vitest';
import {
  type HookRequest,
  notificationPayload,
  permissionDeniedPayload,
  permissionRequestPayload,
  postCompactPayload,
  postToolBatchPayload,
  postToolUseFailurePayload,
  postToolUsePayload,
  preCompactPayload,
  preToolUsePayload,
  sessionEndPayload,
  sessionStartPayload,
  stopFailurePayload,
  stopPayload,
  subagentStartPayload,
  subagentStopPayload,
  userPromptSubmitPayload,
} from '../../src/hooks/index.js';

const call = { toolName: 'mcp__db__q', toolInput: { q: 1 }, toolUseId: 'toolu_1' };
const tool = { tool_name: 'mcp__db__q', tool_input: { q: 1 }, tool_use_id: 'toolu_1' };
const agent = { agentId: 'a1', agentType: 'Explore' };

describe('the input of each event', () => {
  it.each<[HookRequest, string | undefined, string, object]>([
    [
      preToolUsePayload({ ...call, mcpServer: { name: 'db' } }),
      'mcp__db__q',
      'hook:PreToolUse:toolu_1',
      { ...tool, mcp_server: { name: 'db' } },
    ],
    [
      postToolUsePayload({ ...call, toolResponse: { rows: [] }, durationMs: 7 }),
      'mcp__db__q',
      'hook:PostToolUse:toolu_1',
      { ...tool, tool_response: { rows: [] }, duration_ms: 7 },
    ],
    [
      postToolUseFailurePayload({ ...call, error: 'Exit code 1', isInterrupt: false, durationMs: 7 }),
      'mcp__db__q',
      'hook:PostToolUseFailure:toolu_1',
      { ...tool, error: 'Exit code 1', is_interrupt: false, duration_ms: 7 },
    ],
    [
      postToolBatchPayload('turn-1', [{ ...call, toolResponse: 'ok' }]),
      undefined,
      'hook:PostToolBatch:turn-1',
      { tool_calls: [{ ...tool, tool_response: 'ok' }] },
    ],
    [permissionDeniedPayload({ ...call, reason: 'risky' }), 'mcp__db__q', 'hook:PermissionDenied:toolu_1', { ...tool, reason: 'risky' }],
    [userPromptSubmitPayload('q1', 'hi'), undefined, 'hook:UserPromptSubmit:q1', { prompt: 'hi' }],
    [
      stopPayload('q1', { stopHookActive: true, lastAssistantMessage: 'done' }),
      undefined,
      'hook:Stop:q1',
      { stop_hook_active: true, last_assistant_message: 'done', background_tasks: [], session_crons: [] },
    ],
    [stopFailurePayload('q1', { error: 'rate_limit' }), 'rate_limit', 'hook:StopFailure:q1', { error: 'rate_limit' }],
    [subagentStartPayload(agent), 'Explore', 'hook:SubagentStart:a1', { agent_id: 'a1', agent_type: 'Explore' }],
    [
      subagentStopPayload({ ...agent, stopHookActive: false, agentTranscriptPath: '/t' }),
      'Explore',
      'hook:SubagentStop:a1',
      {
        stop_hook_active: false,
        background_tasks: [],
        session_crons: [],
        agent_id: 'a1',
        agent_type: 'Explore',
        agent_transcript_path: '/t',
      },
    ],
    [sessionStartPayload({ source: 'resume' }), 'resume', 'hook:SessionStart', { source: 'resume' }],
    [sessionEndPayload('other'), 'other', 'hook:SessionEnd', { reason: 'other' }],
    [
      notificationPayload({ message: 'waiting', type: 'permission_prompt' }),
      'permission_prompt',
      'hook:Notification',
      { message: 'waiting', notification_type: 'permission_prompt' },
    ],
    [preCompactPayload({ trigger: 'auto' }), 'auto', 'hook:PreCompact', { trigger: 'auto', custom_instructions: null }],
    [postCompactPayload({ trigger: 'auto', summary: 's' }), 'auto', 'hook:PostCompact', { trigger: 'auto', compact_summary: 's' }],
  ])('%#: fields, matcher subject and request id', (request, subject, id, payload) => {
    expect(request.subject).toBe(subject);
    expect(request.id).toBe(id);
    expect(request.payload).toEqual(payload);
  });

  it('of PermissionRequest has no tool_use_id, though the request is addressed by it', () => {
    const request = permissionRequestPayload({
      ...call,
      permissionSuggestions: [{ type: 'addRules', rules: [{ toolName: 'mcp__db__q' }], behavior: 'allow', destination: 'session' }],
    });
    expect(request).toMatchObject({ id: 'hook:PermissionRequest:toolu_1', toolUseId: 'toolu_1', subject: 'mcp__db__q' });
    expect(request.payload).toEqual({
      tool_name: 'mcp__db__q',
      tool_input: { q: 1 },
      permission_suggestions: [{ type: 'addRules', rules: [{ toolName: 'mcp__db__q' }], behavior: 'allow', destination: 'session' }],
    });
  });
});
