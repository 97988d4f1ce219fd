import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inspectFlow, snapshotRecording } from '../../src/inspect/index.js';
import { decodeRecording, encodeRecording } from '../../src/inspect/recording.js';
import { checkPairing } from '../../src/messages/pairing.js';
import {
  expectFlow,
  expectThat,
  fakeTool,
  fromMessages,
  fromRecording,
  fromTranscript,
  replayConversation,
  text,
  toolUse,
} from '../../src/testing/index.js';
import { scene } from '../support/sessions.js';

const transcripts = fileURLToPath(new URL('../../../shared/data/transcripts', import.meta.url));

describe.skipIf(!existsSync(transcripts))('a real session', () => {
  it.each(['1af7fc5e', '5c0375b4', 'fe5e1c67'])(
    '%s is played again with the same calls, in the same order, with the same pairing',
    async (name) => {
      const { conversations } = fromTranscript(`${transcripts}/${name}.jsonl`);
      let calls = 0;
      for (const conversation of conversations) {
        const replayed = await replayConversation(conversation);
        expect(replayed.differences).toEqual([]);
        expect(replayed.calls).toEqual(conversation.calls);
        expectThat(replayed).toBePaired();
        calls += replayed.calls.length;
      }
      if (name === 'fe5e1c67') expect(calls).toBe(167);
    },
    60_000,
  );

  it('differs where a result is changed', async () => {
    const [conversation] = fromTranscript(`${transcripts}/1af7fc5e.jsonl`).conversations;
    if (conversation === undefined) throw new Error('no conversation');
    const [first] = conversation.calls;
    const tampered = {
      ...conversation,
      tools: () => conversation.tools().map((tool) => ({ ...tool, call: async () => ({ data: { content: 'other', isError: false } }) })),
    };
    expect((await replayConversation(tampered)).differences).toContain(`the result of ${first?.id} has another text`);
  });
});

describe('a history', () => {
  it('that ends in the middle of a call is brought to an end', async () => {
    const conversation = fromMessages([
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_a', name: 'Echo', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: 'failed', is_error: true }] },
    ]);
    const { differences, messages } = await replayConversation(conversation);
    expect(differences).toEqual([]);
    expect(JSON.stringify(messages)).toContain('"is_error":true');
  });
});

describe('a recorded flow', () => {
  const tools = [fakeTool('Echo', (input) => `echo ${JSON.stringify(input)}`)];
  const record = async () => {
    const { session } = await scene([[text('first'), toolUse('Echo', { n: 1 }), toolUse('Echo', { n: 2 })], [text('done')]], {
      tools,
      permissions: { allow: ['Echo'] },
    });
    const system = inspectFlow(session, { redaction: { env: {} } });
    await session.send('go').done;
    return { recording: decodeRecording(encodeRecording(snapshotRecording(system.log))), messages: session.messages };
  };

  it('is a scripted model and fake tools', async () => {
    const { recording, messages } = await record();
    const conversation = fromRecording(recording);
    expect(conversation.calls.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }]);
    const replayed = await replayConversation(conversation);
    expect(replayed.differences).toEqual([]);
    expect(checkPairing(replayed.messages.slice(0, -1))).toEqual([]);
    expect(replayed.messages.slice(1)).toEqual(messages.slice(1));
  });

  it('is a fixture: it replays, and says where a machine goes another way', async () => {
    const { recording } = await record();
    expect(expectFlow(recording).toReplay().steps).toBeGreaterThan(20);
    const events = recording.events.map((event) =>
      event.type === 'transition' && event.to.includes('toolCall.completed.succeeded')
        ? { ...event, to: ['toolCall.completed.failed'] }
        : event,
    );
    expect(() => expectFlow({ ...recording, events }).toReplay()).toThrow(/no longer goes as recorded[\s\S]*completed\.succeeded/);
    expect(() => expectFlow({ ...recording, events: [] }).toReplay()).toThrow('could be replayed');
  });

  it('with a result that is not there is refused', async () => {
    const { recording } = await record();
    expect(() => fromRecording({ ...recording, bodies: new Map() })).toThrow('does not hold');
  });
});
