import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ToolAbortedError } from '../../src/tool/errors.js';
import { isPublicAddress, publicLookup } from '../../src/tools/web-fetch/address.js';
import { checkedUrl } from '../../src/tools/web-fetch/request.js';
import { webFetchTool } from '../../src/tools/web-fetch/web-fetch.js';
import { contextIn, run, shown, temporaryDirectory } from './context.js';

const { dir, remove } = temporaryDirectory();
afterAll(remove);
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on loopback; the host that the tool is allowed to ask. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return `127.0.0.1:${address.port}`;
}
const html =
  (body: string): RequestListener =>
  (_request, response) =>
    response.setHeader('content-type', 'text/html; charset=utf-8').end(body);
const ask = (host: string, path = '/') => ({ url: `http://${host}${path}`, prompt: 'what is it?' });

describe('a page', () => {
  it('comes as Markdown without its scripts, unpacked and decoded', async () => {
    const host = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1', 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.from('<h1>Caf\xe9</h1><script>bad()</script><p>A <a href="/x">link</a></p>', 'latin1')));
    });
    const tool = webFetchTool({ allowHost: (other) => other === host });
    expect(shown(tool, await run(tool, ask(host), contextIn(dir)))).toBe('# Café\n\nA [link](/x)');
  });

  it.each([
    ['in a meta element', 'text/html', '<meta charset="iso-8859-1"><p>Caf\xe9</p>', 'Café'],
    [
      'in the old way',
      'text/html',
      '<meta http-equiv="content-type" content="text/html; charset=windows-1252"><p>\x93Caf\xe9\x94</p>',
      '“Café”',
    ],
    ['in its XML declaration', 'application/xml', '<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'é</a>'],
    ['by a byte order mark', 'text/plain; charset=utf-8', '\xff\xfeh\0i\0', 'hi'],
  ])('is decoded as it says %s', async (_name, type, body, text) => {
    const host = await serve((_request, response) => response.setHeader('content-type', type).end(Buffer.from(body, 'latin1')));
    const tool = webFetchTool({ allowHost: () => true });
    expect(shown(tool, await run(tool, ask(host), contextIn(dir)))).toContain(text);
  });

  it('is unpacked where it was packed twice, but not without end, and shown however deep it is nested', async () => {
    const host = await serve((request, response) => {
      if (request.url === '/twice')
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'GZIP, gzip' }).end(gzipSync(gzipSync('twice')));
      else if (request.url === '/often')
        response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip,'.repeat(2000) }).end();
      else if (request.url === '/deep')
        html(`${'<div>'.repeat(30_000)}<style>p{}</style>deep<b> down</b>${'<script>'.repeat(30_000)}`)(request, response);
      else html('<div id="root"></div><script>draw()</script>')(request, response);
    });
    const tool = webFetchTool({ allowHost: () => true });
    const text = async (path: string) => shown(tool, await run(tool, ask(host, path), contextIn(dir)));
    expect(await text('/twice')).toBe('twice');
    await expect(text('/often')).rejects.toThrow('packed');
    expect(await text('/deep')).toBe('deep down');
    for (const _again of [1, 2]) expect(await text('/empty')).toMatch(/^\[The page has no text \(status 200\)/);
  });

  it('is not parted within a character', async () => {
    const host = await serve((_request, response) => response.setHeader('content-type', 'text/plain').end(`${'x'.repeat(99_999)}😀yz`));
    const tool = webFetchTool({ allowHost: () => true });
    expect(await run(tool, ask(host), contextIn(dir))).toMatchObject({ result: 'x'.repeat(99_999) });
    expect(await run(tool, { ...ask(host), offset: 99_999 }, contextIn(dir))).toMatchObject({ result: '😀yz' });
  });

  it('is kept for fifteen minutes', async () => {
    let requests = 0;
    let now = 0;
    const host = await serve((_request, response) => {
      requests++;
      response.setHeader('content-type', 'text/plain').end(`answer ${requests}`);
    });
    const tool = webFetchTool({ allowHost: () => true, now: () => now });
    expect(await run(tool, ask(host), contextIn(dir))).toMatchObject({ result: 'answer 1', fromCache: false });
    now = 14 * 60_000;
    expect(await run(tool, ask(host), contextIn(dir))).toMatchObject({ result: 'answer 1', fromCache: true });
    now = 16 * 60_000;
    expect(await run(tool, ask(host), contextIn(dir))).toMatchObject({ result: 'answer 2', fromCache: false });
  });

  it('that is long comes in parts, and goes to the summariser where there is one', async () => {
    const host = await serve((_request, response) => response.setHeader('content-type', 'text/plain').end('x'.repeat(150_000)));
    const tool = webFetchTool({ allowHost: () => true });
    const first = shown(tool, await run(tool, ask(host), contextIn(dir)));
    expect(first).toContain('Characters 0-100000 of 150000');
    expect(await run(tool, { ...ask(host), offset: 100_000 }, contextIn(dir))).toMatchObject({ result: 'x'.repeat(50_000), notes: [] });
    const summarising = webFetchTool({ allowHost: () => true, summarise: async ({ text, prompt }) => `${prompt} ${text.length}` });
    expect(await run(summarising, ask(host), contextIn(dir))).toMatchObject({ result: 'what is it? 100000' });
  });

  it('that is an error, binary or missing fails with a reason', async () => {
    const host = await serve((request, response) => {
      if (request.url === '/404') response.writeHead(404, { 'content-type': 'text/plain' }).end('not here');
      else response.setHeader('content-type', 'image/png').end(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
    });
    const tool = webFetchTool({ allowHost: () => true });
    await expect(run(tool, ask(host, '/404'), contextIn(dir))).rejects.toThrow('status 404.\nnot here');
    const lost = await serve((_request, response) => response.writeHead(403, { 'content-type': 'image/png' }).end('x'));
    await expect(run(tool, ask(lost), contextIn(dir))).rejects.toThrow('status 403.');
    await expect(run(tool, ask(host, '/png'), contextIn(dir))).rejects.toThrow('image/png of 8 bytes, not text');
    await expect(run(tool, ask('127.0.0.1:1'), contextIn(dir))).rejects.toThrow('could not be fetched');
  });

  it('stops on abort', async () => {
    const abort = new AbortController();
    const host = await serve(() => abort.abort('userInterrupt'));
    const tool = webFetchTool({ allowHost: () => true });
    await expect(run(tool, ask(host), contextIn(dir, { signal: abort.signal }))).rejects.toThrow(ToolAbortedError);
  });
});

it('a page that ends before the offset is said to', async () => {
  const host = await serve(html('<p>short</p>'));
  const tool = webFetchTool({ allowHost: () => true });
  const output = await run(tool, { ...ask(host), offset: 900 }, contextIn(dir));
  expect(shown(tool, output)).toBe('[The page has 5 characters; there are none from 900 on.]');
});

describe('redirects', () => {
  it('to a host with or without www are to another host, which may be denied', async () => {
    const host = await serve((request, response) =>
      response.writeHead(302, { location: `http://www.${request.headers.host}/there` }).end(),
    );
    const local = host.replace('127.0.0.1', 'localhost');
    const tool = webFetchTool({ allowHost: () => true });
    const output = await run(tool, ask(local), contextIn(dir));
    expect(output).toMatchObject({ type: 'redirect', redirectUrl: `http://www.${local}/there` });
  });

  it('are followed within the host and reported to another', async () => {
    const host = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
      else if (request.url === '/b') response.setHeader('content-type', 'text/plain').end('arrived');
      else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else response.writeHead(301, { location: 'http://169.254.169.254/latest' }).end();
    });
    const tool = webFetchTool({ allowHost: (other) => other === host });
    expect(await run(tool, ask(host, '/a'), contextIn(dir))).toMatchObject({ result: 'arrived' });
    const output = await run(tool, ask(host, '/away'), contextIn(dir));
    expect(output).toMatchObject({ type: 'redirect', redirectUrl: 'http://169.254.169.254/latest' });
    expect(shown(tool, output)).toContain('call WebFetch with that address');
    await expect(run(tool, ask(host, '/loop'), contextIn(dir))).rejects.toThrow('more than 10 times');
  });
});

describe('addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    'x',
  ])('inside private networks are not public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111'])('on the internet are: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it('that are private are refused however they are written, and by name', async () => {
    const host = await serve(html('secret'));
    const tool = webFetchTool();
    const port = host.split(':')[1];
    for (const name of ['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]']) {
      await expect(run(tool, { url: `https://${name}:${port}/`, prompt: 'x' }, contextIn(dir))).rejects.toThrow(
        'not on the public internet',
      );
    }
    await expect(run(tool, { url: `https://localhost:${port}/`, prompt: 'x' }, contextIn(dir))).rejects.toThrow(
      'not on the public internet',
    );
    await new Promise<void>((resolve) =>
      publicLookup('localhost', {}, (error) => {
        expect(error?.name).toBe('PrivateAddressError');
        resolve();
      }),
    );
  });

  it('become https, and never carry credentials or another scheme', () => {
    expect(checkedUrl('http://example.com/a#b', () => false).href).toBe('https://example.com/a');
    expect(() => checkedUrl('https://user:pw@example.com', () => false)).toThrow('user name or password');
    expect(() => checkedUrl('file:///etc/passwd', () => false)).toThrow('Only http and https');
    expect(() => checkedUrl('nonsense', () => false)).toThrow('not a valid URL');
  });
});
