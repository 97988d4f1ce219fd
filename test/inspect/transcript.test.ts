import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FlowEventOf, FlowRecording } from '../../src/inspect/index.js';
import { parseFlowText, readFlow } from '../../src/inspect/index.js';
import { decodeRecording, encodeRecording } from '../../src/inspect/recording.js';
import { transcriptFlow } from '../../src/inspect/transcript/convert.js';
import * as scripted from '../../src/testing/index.js';
import { scene, tempDir, testTool } from '../support/sessions.js';
import { answer, at, idOf, jsonl, result, text, toolResult, toolUse, user } from './support/transcripts.js';

const redaction = { env: {}, salt: 'fixed' };

function flowOf(entries: Parameters<typeof jsonl>[0]): FlowRecording {
  const flow = transcriptFlow([{ name: undefined, bytes: jsonl(entries) }], { name: 'test.jsonl', redaction });
  if (!flow) throw new Error('no message in it');
  return flow;
}
const eventsOf = <T extends FlowRecording['events'][number]['type']>({ events }: FlowRecording, type: T): FlowEventOf<T>[] =>
  events.filter((event): event is FlowEventOf<T> => event.type === type);
const started = (flow: FlowRecording, kind: string) => eventsOf(flow, 'actor.started').filter((event) => event.kind === kind);
const outcomes = (flow: FlowRecording) => Object.fromEntries(eventsOf(flow, 'result').map((event) => [event.toolUseId, event.outcome]));
const statusOf = (flow: FlowRecording, actor: string) => eventsOf(flow, 'actor.stopped').find((event) => event.actor === actor)?.status;
const bodyOf = (flow: FlowRecording, hash: string | undefined): unknown => JSON.parse(flow.bodies.get(hash ?? '') ?? 'null');

describe('a transcript as a flow', () => {
  it('joins the lines of one message to one turn and pairs parallel calls with results that hang off different parents', () => {
    const prompt = user('fix it', { s: 0 });
    const one = answer('msg_1', text('I look.'), { s: 1, parent: idOf(prompt) });
    const read = answer('msg_1', toolUse('toolu_a', 'Read', { file_path: '/a' }), { s: 2, parent: idOf(one) });
    const readDone = result('toolu_a', 'content of a', { s: 3, parent: idOf(read) });
    const grep = answer('msg_1', toolUse('toolu_b', 'Grep', { pattern: 'x' }), { s: 4, parent: idOf(read) });
    const grepDone = result('toolu_b', 'no match', { s: 6, parent: idOf(grep) });
    const flow = flowOf([prompt, one, read, readDone, grep, grepDone, answer('msg_2', text('Done.'), { s: 7, parent: idOf(grepDone) })]);

    expect(started(flow, 'turn')).toHaveLength(2);
    expect(started(flow, 'toolCall').map(({ name, label, toolUseId, at: place, t }) => ({ name, label, toolUseId, place, t }))).toEqual([
      { name: 'Read', label: '/a', toolUseId: 'toolu_a', place: { line: 3 }, t: 2000 },
      { name: 'Grep', label: 'x', toolUseId: 'toolu_b', place: { line: 5 }, t: 4000 },
    ]);
    expect(
      eventsOf(flow, 'result').map(({ toolUseId, at: place, t, body }) => [toolUseId, place?.line, t, bodyOf(flow, body.hash)]),
    ).toEqual([
      ['toolu_a', 4, 3000, 'content of a'],
      ['toolu_b', 6, 6000, 'no match'],
    ]);
    expect(flow.header).toMatchObject({ name: 'test.jsonl', startedAt: Date.parse(at(0)) });
    expect(flow.header.source).toEqual({
      kind: 'transcript',
      file: 'test.jsonl',
      files: [],
      lines: 7,
      read: { user: 3, assistant: 4 },
      ignored: {},
      calls: 2,
      paired: 2,
      subagents: 0,
    });
    expect(flow.warnings).toEqual([]);
  });

  it('keeps every call of a gateway that counts ids anew in every answer, in every subagent, and gives one name to all answers', () => {
    const asked = (n: number, more = {}) => {
      const call = answer('msg_1', toolUse('call_0', 'Bash', { command: `echo ${n}` }), {
        s: 3 * n,
        more: { requestId: `req_${n}`, ...more },
      });
      return [call, result('call_0', `output ${n}`, { s: 3 * n + 1, parent: idOf(call), more })];
    };
    const main = [user('go', { s: 0 }), ...asked(1), ...asked(2), user('and on', { s: 8 }), ...asked(3)];
    const agent = [user('look', { s: 9, more: { isSidechain: true } }), ...asked(4, { isSidechain: true })];
    const files = [
      { name: undefined, bytes: jsonl([...main, ...main]) },
      { name: 'agent-a.jsonl', agentId: 'a', bytes: jsonl(agent) },
    ];
    const flow = transcriptFlow(files, { name: 'test.jsonl', redaction });
    if (!flow) throw new Error('no message in it');
    expect(flow.header.source).toMatchObject({ calls: 4, paired: 4 });
    expect(started(flow, 'turn')).toHaveLength(4);
    const labels = Object.fromEntries(started(flow, 'toolCall').map(({ toolUseId, label }) => [toolUseId, label]));
    expect(labels).toEqual({ call_0: 'echo 1', call_0_2: 'echo 2', call_0_3: 'echo 3', call_0_4: 'echo 4' });
    expect(eventsOf(flow, 'result').map(({ toolUseId, body }) => [toolUseId, bodyOf(flow, body.hash)])).toEqual([
      ['call_0', 'output 1'],
      ['call_0_2', 'output 2'],
      ['call_0_3', 'output 3'],
      ['call_0_4', 'output 4'],
    ]);
    expect(flow.warnings.join()).toContain('each has one of its own');
  });

  it('says how a call ended only where the recorded text surely does', () => {
    const ends: readonly (readonly [string, unknown, boolean | undefined, string])[] = [
      ['ok', 'fine', undefined, 'succeeded'],
      ['error', 'exit code 1', true, 'failed'],
      ['rejected', "The user doesn't want to proceed with this tool use. The tool use was rejected.", true, 'denied'],
      ['rule', 'Permission to use Bash with command rm -rf / has been denied.', true, 'denied'],
      ['ungranted', "Claude requested permissions to write to /a.md, but you haven't granted it yet.", true, 'denied'],
      ['cut', '[Request interrupted by user for tool use]', true, 'stopped'],
      ['schema', '<tool_use_error>InputValidationError: Task failed: `prompt` is missing</tool_use_error>', true, 'invalid'],
      ['no tool', '<tool_use_error>Error: No such tool available: Raed</tool_use_error>', true, 'invalid'],
      ['tool error', '<tool_use_error>File has not been read yet.</tool_use_error>', true, 'failed'],
      // What a tool prints may quote anything.
      ['quoted', "log: The user doesn't want to proceed with this tool use.", true, 'failed'],
      ['printed', "The user doesn't want to proceed with this tool use.", false, 'succeeded'],
      ['parts', [text('[Request interrupted by user]')], true, 'stopped'],
    ];
    const flow = flowOf(
      ends.flatMap(([id, content, isError], index) => [
        answer(`msg_${index}`, toolUse(id, 'Bash'), { s: index }),
        result(id, content, isError === undefined ? {} : { isError }),
      ]),
    );
    expect(outcomes(flow)).toEqual(Object.fromEntries(ends.map(([id, , , outcome]) => [id, outcome])));
    expect(eventsOf(flow, 'decision')).toEqual([]);
    expect(eventsOf(flow, 'hook')).toEqual([]);
  });

  it('says "unknown" of an odd error flag, and of a call without a result not even how long it went on', () => {
    const flow = flowOf([
      answer('msg_1', toolUse('odd', 'Bash'), { s: 0 }),
      user([{ type: 'tool_result', tool_use_id: 'odd', content: '?', is_error: 'perhaps' }], { s: 1 }),
      answer('msg_2', toolUse('open', 'Bash'), { s: 2 }),
      user('something else', { s: 90 }),
    ]);
    expect(outcomes(flow)).toEqual({ odd: 'unknown' });
    const open = started(flow, 'toolCall').find(({ toolUseId }) => toolUseId === 'open');
    expect(eventsOf(flow, 'actor.stopped').find(({ actor }) => actor === open?.actor)).toMatchObject({ status: 'unknown', t: open?.t });
    expect(statusOf(flow, 'session')).toBe('unknown');
    expect(flow.header.source).toMatchObject({ calls: 2, paired: 1 });
  });

  it('nests sidechains below the call with their prompt, and those that tell nothing below the session', () => {
    const side = { isSidechain: true };
    const first = user('Look around', { s: 2, more: side });
    const own = answer('msg_s', toolUse('toolu_inner', 'Glob'), { s: 3, parent: idOf(first), more: side });
    const flow = flowOf([
      user('go', { s: 0 }),
      answer('msg_1', toolUse('toolu_other', 'Task', { description: 'Other', prompt: 'Something else' }), { s: 1 }),
      answer('msg_1', toolUse('toolu_agent', 'Task', { description: 'Explore', prompt: 'Look around' }), { s: 1 }),
      own,
      first,
      result('toolu_inner', 'files', { s: 4, parent: idOf(own), more: side }),
      result('toolu_agent', 'seen', { s: 5 }),
      user('Nobody knows why', { s: 6, more: side }),
      answer('msg_t', toolUse('toolu_lost', 'Glob'), { s: 7, more: { isSidechain: true, agentId: 'a9' } }),
    ]);
    const sessions = started(flow, 'session').map(({ actor, parent, label }) => ({ actor, parent, label }));
    expect(sessions).toEqual([
      { actor: 'session', parent: null, label: '' },
      { actor: 'session/query-1/turn-1/call-1/agent', parent: 'session/query-1/turn-1/call-1', label: 'Explore' },
      { actor: 'session/agent-1', parent: 'session', label: 'of an unknown call' },
      { actor: 'session/agent-2', parent: 'session', label: 'a9' },
    ]);
    expect(started(flow, 'toolCall').find(({ toolUseId }) => toolUseId === 'toolu_inner')?.actor).toBe(
      'session/query-1/turn-1/call-1/agent/query-1/turn-1/call-0',
    );
    expect(flow.warnings).toEqual(["2 subagents' conversations do not tell their calls; they stand below the session."]);
  });

  it('marks compactions, interruptions and prompts, and shows every other line as an event', () => {
    const flow = flowOf([
      { type: 'summary', summary: 'Earlier', leafUuid: 'x' },
      user('first', { s: 0 }),
      user('a reminder', { s: 0, more: { isMeta: true } }),
      answer('msg_1', { type: 'thinking', thinking: 'hm', signature: 'sig' }, { s: 1 }),
      answer('msg_1', toolUse('toolu_1', 'Bash'), { s: 1 }),
      { type: 'progress', toolUseID: 'toolu_1', data: { type: 'hook_progress' }, uuid: 'p1', timestamp: at(2) },
      { type: 'attachment', attachment: { type: 'hook_success', toolUseID: 'toolu_1' }, uuid: 'p2', timestamp: at(2) },
      user([toolResult('toolu_1', 'x', true), { type: 'text', text: 'beside it' }], { s: 3 }),
      user([text('[Request interrupted by user for tool use]')], { s: 3 }),
      { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' }, uuid: 'c1', timestamp: at(4) },
      user('So far: …', { s: 4, more: { isCompactSummary: true } }),
      user('second', { s: 5 }),
      answer('msg_2', text('API Error'), { s: 6, more: { isApiErrorMessage: true } }),
      user([toolResult('toolu_elsewhere', 'from another file')], { s: 7 }),
    ]);
    const told = eventsOf(flow, 'event').map(({ actor, event, at: place }) => `${place?.line} ${actor} ${event}`);
    expect(told.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))).toEqual([
      '1 session summary',
      '2 session/query-1 prompt',
      '3 session/query-1 meta',
      '4 session/query-1/turn-1 assistant.thinking',
      '6 session/query-1/turn-1/call-0 progress',
      '7 session/query-1/turn-1/call-0 attachment.hook_success',
      '8 session/query-1 user.text',
      '9 session/query-1 interrupted',
      '10 session compact_boundary',
      '11 session compact_summary',
      '12 session/query-2 prompt',
      '13 session/query-2/turn-2 assistant.text',
      '14 session/query-2 result_without_call',
    ]);
    expect(statusOf(flow, 'session/query-1')).toBe('stopped');
    expect(statusOf(flow, 'session/query-2/turn-2')).toBe('error');
    expect(eventsOf(flow, 'model').at(-1)).toMatchObject({ model: 'claude-test-1', error: 'API Error', inputTokens: 10, outputTokens: 5 });
    expect(flow.warnings).toEqual(['1 result names a call that is not in the file.']);
  });

  it('names each line that cannot be read, counts what it leaves out, and loses nothing else', () => {
    const call = answer('msg_1', toolUse('toolu_1', 'Bash'), { s: 1 });
    const flow = flowOf(['\uFEFF{"type":"user"', '', call, '[1]', call, result('toolu_1', 'ok', { s: 2 }), '{"type":"assis']);
    expect(flow.warnings).toEqual([
      'Line 1 is not valid JSON.',
      'Line 4 is no entry of a transcript.',
      'Line 7 is not valid JSON.',
      '1 block repeats a call or a result; the first counts.',
    ]);
    expect(eventsOf(flow, 'note').map(({ at: place }) => place?.line)).toEqual([1, 4, 7, undefined]);
    expect(flow.header.source).toMatchObject({
      lines: 7,
      read: { user: 1, assistant: 1 },
      ignored: { blank: 1, unreadable: 3, repeated: 1 },
    });
    expect(outcomes(flow)).toEqual({ toolu_1: 'succeeded' });
  });

  it('gives calls without an id a name of their own, and pairs what the API ran by itself', () => {
    const flow = flowOf([
      answer('msg_1', { type: 'tool_use', name: 'Bash', input: 'no object' }, { s: 1 }),
      answer('msg_1', { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }, { s: 1 }),
      answer('msg_1', { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }, { s: 2 }),
      answer('msg_1', { type: 'server_tool_use', id: 'srvtoolu_2', name: 'web_search', input: {} }, { s: 2 }),
      answer('msg_1', { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_2', content: { error_code: 'unavailable' } }, { s: 3 }),
    ]);
    expect(started(flow, 'toolCall').map(({ toolUseId }) => toolUseId)).toEqual(['line:1:0', 'srvtoolu_1', 'srvtoolu_2']);
    expect(outcomes(flow)).toEqual({ srvtoolu_1: 'succeeded', srvtoolu_2: 'failed' });
  });
});

describe('a line of the journal of this runtime', () => {
  it('tells how a call ended, and its result where no other line does', () => {
    const flow = flowOf([
      answer('msg_1', toolUse('toolu_1', 'Bash'), { s: 1 }),
      {
        type: 'call.outcome',
        callId: 'toolu_1',
        outcome: { kind: 'cancelled' },
        result: toolResult('toolu_1', 'cut', true),
        timestamp: at(2),
      },
    ]);
    expect(outcomes(flow)).toEqual({ toolu_1: 'cancelled' });
    expect(eventsOf(flow, 'result')[0]).toMatchObject({ t: 1000, at: { line: 2 }, isError: true });
  });
});

describe('times of a transcript', () => {
  it('stand where the lines say, and never run backwards, whatever a clock has done', () => {
    const flow = flowOf([
      user('go', { s: 10 }),
      answer('msg_1', toolUse('late', 'Bash'), { s: 20 }),
      result('late', 'ok', { s: 19 }),
      answer('msg_2', toolUse('timeless', 'Bash')),
      result('timeless', 'ok', { s: 21 }),
      answer('msg_3', toolUse('future', 'Bash'), { s: 9e8 }),
      result('future', 'ok', { s: 23 }),
      answer('msg_4', toolUse('past', 'Bash'), { s: -9e8 }),
      result('past', 'ok', { s: 25 }),
    ]);
    const starts = Object.fromEntries(started(flow, 'toolCall').map(({ toolUseId, t }) => [toolUseId, t]));
    const ends = Object.fromEntries(eventsOf(flow, 'result').map(({ toolUseId, t }) => [toolUseId, t]));
    expect(starts).toEqual({ late: 10_000, timeless: 9000, future: 11_000, past: 13_000 });
    expect(ends).toEqual({ late: 10_000, timeless: 11_000, future: 13_000, past: 15_000 });
    expect(flow.warnings).toEqual([
      '1 message has no time; it stands at the time of the line before.',
      '2 lines have a time that their place in the file rules out; they stand at the time of the line before.',
    ]);
  });

  it('are zero in a file without any', () => {
    const flow = flowOf([answer('msg_1', toolUse('a', 'Bash')), result('a', 'ok')]);
    expect(new Set(flow.events.map(({ t }) => t))).toEqual(new Set([0]));
  });

  it('keep a subagent within the call that started it when its clock is ahead', () => {
    const flow = flowOf([
      answer('msg_1', toolUse('toolu_agent', 'Agent', { prompt: 'Look' }), { s: 10 }),
      user('Look', { s: 8, more: { isSidechain: true } }),
      result('toolu_agent', 'seen', { s: 12 }),
    ]);
    expect(started(flow, 'session').map(({ actor, t }) => [actor, t])).toEqual([
      ['session', 0],
      ['session/query-1/turn-1/call-0/agent', 2000],
    ]);
  });
});

describe('a transcript file', () => {
  const agent = (id: string, toolUseId: string): Buffer =>
    jsonl([
      user('Look', { s: 2, more: { isSidechain: true, agentId: id } }),
      answer(`msg_${id}`, toolUse(toolUseId, 'Glob'), { s: 3, more: { isSidechain: true, agentId: id } }),
    ]);

  it("is read with its subagents' own files: in its folder, and beside it where they name its session", () => {
    const dir = tempDir();
    const file = join(dir, 'session-1.jsonl');
    writeFileSync(
      file,
      jsonl([
        user('go', { s: 0 }),
        answer('msg_1', toolUse('toolu_1', 'Agent', { description: 'by sidecar' }), { s: 1 }),
        answer('msg_1', toolUse('toolu_2', 'Agent', { description: 'by result' }), { s: 1 }),
        answer('msg_1', toolUse('toolu_3', 'Agent', { description: 'by prompt', prompt: 'Look' }), { s: 1 }),
        result('toolu_2', 'seen', { s: 9, more: { toolUseResult: { agentId: 'b2' } } }),
      ]),
    );
    const own = join(dir, 'session-1', 'subagents');
    mkdirSync(join(own, 'workflows'), { recursive: true });
    writeFileSync(join(own, 'agent-a1.jsonl'), agent('a1', 'toolu_a'));
    writeFileSync(join(own, 'agent-a1.meta.json'), JSON.stringify({ toolUseId: 'toolu_1' }));
    writeFileSync(join(own, 'workflows', 'agent-b2.jsonl'), agent('b2', 'toolu_b'));
    writeFileSync(join(dir, 'agent-c3.jsonl'), agent('c3', 'toolu_c'));
    writeFileSync(join(dir, 'agent-d4.jsonl'), agent('d4', 'toolu_d').toString().replaceAll('session-1', 'another'));
    const flow = readFlow(file, { redaction });
    expect(flow.header.source).toMatchObject({
      files: ['session-1/subagents/agent-a1.jsonl', 'session-1/subagents/workflows/agent-b2.jsonl', 'agent-c3.jsonl'],
      lines: 11,
      calls: 6,
      paired: 1,
      subagents: 3,
    });
    expect(started(flow, 'session').map(({ parent, label }) => [parent, label])).toEqual([
      [null, ''],
      ['session/query-1/turn-1/call-0', 'by sidecar'],
      ['session/query-1/turn-1/call-1', 'by result'],
      ['session/query-1/turn-1/call-2', 'by prompt'],
    ]);
    expect(started(flow, 'toolCall').find(({ toolUseId }) => toolUseId === 'toolu_b')?.at).toEqual({
      line: 2,
      file: 'session-1/subagents/workflows/agent-b2.jsonl',
    });
    expect(flow.warnings).toEqual([]);
  });

  it('may be a subagent’s own, and may be gzipped', () => {
    const file = join(tempDir(), 'agent-a1.jsonl.gz');
    writeFileSync(file, gzipSync(agent('a1', 'toolu_a')));
    const flow = readFlow(file, { redaction });
    expect(started(flow, 'session')).toHaveLength(1);
    expect(started(flow, 'toolCall').map(({ actor }) => actor)).toEqual(['session/query-1/turn-1/call-0']);
  });

  it('that was packed and cut opens up to there, and the page says so', () => {
    const file = join(tempDir(), 'cut.jsonl.gz');
    const lines = Array.from({ length: 400 }, (_, i) => answer(`msg_${i}`, toolUse(`toolu_${i}`, 'Bash'), { s: i }));
    const packed = gzipSync(jsonl(lines));
    writeFileSync(file, packed.subarray(0, packed.length / 2));
    const flow = readFlow(file, { redaction });
    const calls = started(flow, 'toolCall').length;
    expect(calls > 50 && calls < 400).toBe(true);
    const notes = flow.events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
    expect(notes[0]).toBe('The file was cut short; what could be read is shown.');
    expect(flow.warnings).toEqual(notes);
  });

  it('opens as a recording does: written out and read again it is the same flow', () => {
    const flow = flowOf([user('go', { s: 0 }), answer('msg_1', toolUse('toolu_1', 'Bash'), { s: 1 }), result('toolu_1', 'ok', { s: 2 })]);
    expect(decodeRecording(encodeRecording(flow))).toEqual(flow);
  });

  it('is named by the page where it can open recordings only', () => {
    expect(() => parseFlowText(jsonl([user('go')]).toString())).toThrow('A Claude Code transcript opens with `sixgates inspect <file>`.');
    expect(() => parseFlowText('{"some":"object"}')).toThrow(/must be a header with "format":"flow\/2"\.$/);
  });

  it('that is neither transcript nor recording is refused by name', () => {
    const dir = tempDir();
    for (const [name, content] of [
      ['empty', ''],
      ['prose', '# Readme\n'],
      ['other', '{"type":"summary","summary":"x"}\n'],
    ] as const) {
      writeFileSync(join(dir, name), content);
      expect(() => readFlow(join(dir, name))).toThrow(
        `Cannot open ${join(dir, name)}: it is neither a flow recording (its first line is no header) nor a Claude Code transcript`,
      );
    }
    writeFileSync(
      join(dir, 'newer'),
      '{"type":"header","seq":0,"t":0,"format":"flow/9","name":"","startedAt":0,"runtime":{},"redaction":{}}\n',
    );
    expect(() => readFlow(join(dir, 'newer'))).toThrow('"flow/9"');
    expect(() => readFlow(dir)).toThrow(`Cannot open ${dir}: it is a directory`);
    expect(() => readFlow(join(dir, 'absent'))).toThrow(`Cannot open ${join(dir, 'absent')}: ENOENT`);
  });

  it('holds no secret as a flow, wherever it stood', () => {
    const secret = 'sk-ant-api03-abcdefghijklmnop0123456789';
    const flow = flowOf([
      { type: 'custom-title', customTitle: `use ${secret}` },
      user(`the key is ${secret}`, { s: 0 }),
      answer('msg_1', text(`so ${secret}`), { s: 1 }),
      answer('msg_1', toolUse('toolu_1', 'Task', { description: secret, prompt: secret, password: 'hunter2hunter2' }), { s: 1 }),
      user(secret, { s: 1, more: { isSidechain: true } }),
      result('toolu_1', `Error: ${secret}`, { s: 2, isError: true }),
      { type: 'system', subtype: 'local_command', content: secret, uuid: 's1' },
    ]);
    const all = decodeRecording(encodeRecording(flow));
    expect(JSON.stringify([all.header, all.events, [...all.bodies]])).not.toMatch(/abcdefghijklmnop|hunter2hunter2/);
  });
});

describe('a transcript of a session of this runtime', () => {
  it('tells the outcomes that its journal holds, and its subagents', async () => {
    const { toolUse: use, text: say } = scripted;
    const agent = use('Agent', { description: 'count moons', prompt: 'count' });
    const { session } = await scene([[use('Good', {}), use('Bad', {})], [agent], [use('Good', {})], [say('Two.')], [say('Done.')]], {
      store: tempDir(),
      builtInTools: ['Agent'],
      tools: [testTool({ name: 'Good' }), testTool({ name: 'Bad' })],
      permissions: { allow: ['Good', 'Agent'], ask: ['Bad'] },
    });
    await session.send('go').done;
    await session.close();
    const flow = readFlow(session.transcriptPath ?? '', { redaction });
    expect(outcomes(flow)).toEqual({ toolu_1_1: 'succeeded', toolu_1_2: 'denied', toolu_2_1: 'succeeded', toolu_3_1: 'succeeded' });
    expect(started(flow, 'session').map(({ parent, label }) => [parent, label])).toEqual([
      [null, ''],
      ['session/query-1/turn-2/call-0', 'count moons'],
    ]);
    expect(flow.warnings).toEqual([]);
  });
});
