import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/cli/failure.js';
import { gateMaker, watchSession } from '../../src/cli/watching.js';
import { readRecording } from '../../src/inspect/index.js';
import { forkSession } from '../../src/session/session.js';
import { listSessions } from '../../src/session/stored.js';
import { text } from '../../src/testing/index.js';
import { openPage } from '../inspect/support/page.js';
import { scene, tempDir } from '../support/sessions.js';

describe('--inspect and --record', () => {
  it('watch a session: the page is served, the flow can be paused, and the recording holds it', async () => {
    const gate = (await gateMaker({ inspect: true }))();
    if (!gate) throw new Error('no gate');
    const { session, server, cwd } = await scene([[text('Hello.')]], { gate });
    const lines: string[] = [];
    const record = join(cwd, 'flow.jsonl.gz');
    const watching = await watchSession(session, { inspect: true, open: false, record }, (line) => lines.push(line));
    expect(lines).toEqual([`Inspector:   ${watching.url}`, `Recording:   ${record}`]);
    expect((await fetch(watching.url ?? '')).status).toBe(200);

    gate.pause();
    const sending = session.send('hi');
    expect(gate.state.held.length).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(0);
    gate.resume();
    expect((await sending.done).text).toBe('Hello.');
    await session.close();
    await watching.close();
    expect(readRecording(record).events.length).toBeGreaterThan(10);
  });

  it('let the page go on with a copy of the session, where the command says how', async () => {
    const store = tempDir();
    const { session, server, cwd } = await scene([[text('Hello.')], [text('Hello again.')]], { store });
    const place = { cwd, store, builtInTools: false, settings: { home: cwd }, model: { baseURL: server.url, apiKey: 'test' } };
    const copies: string[] = [];
    const watching = await watchSession(
      session,
      { inspect: true, open: false },
      () => {},
      (point) => {
        const copy = forkSession({ ...point, ...place });
        copies.push(copy.id);
        return copy;
      },
    );
    await session.send('hi').done;
    const { port, hash } = new URL(watching.url ?? '');
    const { rpc, socket } = await openPage({ port: Number(port), tokens: { view: '', control: hash.slice('#token='.length) } });
    expect(await rpc.$call('restart', { seq: 1_000_000, words: 'again' })).toMatchObject({ ok: true });
    await expect.poll(() => server.requests.length).toBe(2);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('Hello.');
    expect(copies).toHaveLength(1);
    socket.close();
    await session.close();
    await watching.close();
    expect(
      listSessions(place)
        .map(({ sessionId }) => sessionId)
        .sort(),
    ).toEqual([session.id, ...copies].sort());
  });

  it('cost nothing when not asked for', async () => {
    expect((await gateMaker({}))()).toBeUndefined();
    const { session, cwd } = await scene([]);
    const watching = await watchSession(session, { open: true }, () => {});
    expect(watching.url).toBeUndefined();
    await watching.close();
    expect(existsSync(join(cwd, 'flow.jsonl.gz'))).toBe(false);
  });

  it('say why they cannot: a port that is taken', async () => {
    const { session } = await scene([]);
    const first = await watchSession(session, { inspect: true, open: false }, () => {});
    const port = Number(new URL(first.url ?? '').port);
    const second = watchSession(session, { inspect: port, open: false }, () => {});
    await expect(second).rejects.toThrow(CliError);
    await expect(second).rejects.toThrow(`127.0.0.1:${port}`);
    await first.close();
  });
});
