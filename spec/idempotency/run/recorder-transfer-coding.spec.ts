import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

/** What comes over the wire, without the date. */
async function wire(port: number, path: string): Promise<string> {
  const client = connect(port, '127.0.0.1');
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
  let bytes = '';
  for await (const chunk of client) bytes += (chunk as Buffer).toString('latin1');
  return bytes.replace(/Date: .*\r\n/, '');
}

describe.each(expressVersions)('on %s, a response under a transfer coding', (_version, framework) => {
  it.each(['gzip', 'gzip, chunked', 'identity'])(
    'of its own (%s) goes out as it is; it is not kept under another framing, and its request is not run again',
    async coding => {
      let runs = 0;
      const app = framework().post(
        '/bare',
        (_req, res) => void res.set('Transfer-Encoding', coding).end(gzipSync('hello')),
      );
      app.post('/guarded', idempotency({ addHeaderToResponse: false }), (_req, res) => {
        runs++;
        res.set('Transfer-Encoding', coding).end(gzipSync('hello'));
      });
      const { url, port } = await serve(app);
      expect(await wire(port, '/guarded')).toBe(await wire(port, '/bare'));
      const duplicate = await send(`${url}/guarded`, { headers: keyed('k') });
      expect([duplicate.status, duplicate.text.includes('urn:bindonce:response-unavailable'), runs]).toEqual([
        409,
        true,
        1,
      ]);
    },
  );

  it.each(['chunked', 'Chunked'])('that is %s alone is kept', async coding => {
    const { port } = await serve(
      framework().post('/', idempotency(), (_req, res) => void res.set('Transfer-Encoding', coding).end('hello')),
    );
    const first = await wire(port, '/');
    expect(
      (await wire(port, '/'))
        .replace(/Idempotent-Replayed: true\r\n/, '')
        .toLowerCase()
        .split('\r\n')
        .sort(),
    ).toEqual(first.toLowerCase().split('\r\n').sort());
  });
});

it.each<[string, RequestHandler]>([
  ['a Content-Length that is too short', (_req, res) => void res.set('Content-Length', '2').end('hello')],
  ['a Content-Length that is no number', (_req, res) => void res.set('Content-Length', 'short').end('hello')],
  ['a status that is not final', (_req, res) => void res.writeHead(199).end()],
])('a response with %s is not kept, and its request is not run again', async (_what, handler) => {
  let runs = 0;
  const counted: RequestHandler = (req, res, next) => {
    runs++;
    return handler(req, res, next);
  };
  const { url, port } = await serve(express().post('/', idempotency(), counted));
  await wire(port, '/').catch(() => undefined);
  const duplicate = await send(url, { headers: keyed('k') });
  expect([duplicate.status, duplicate.text.includes('urn:bindonce:response-unavailable'), runs]).toEqual([
    409,
    true,
    1,
  ]);
});
