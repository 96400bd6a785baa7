import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, file, idempotency, string } from '../../lib';
import { clientSignal } from '../../lib/binding/bind-request';
import { held } from '../../lib/body/kept-bytes';
import { isExchangeOver, onExchangeEnd } from '../../lib/http/exchange-end';
import { listen } from '../support/listen';
import { signal } from '../support/signal';
import { TemporaryDirectory } from '../support/temporary-directory';

const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';

/** Two requests on one connection: the second waits for its turn, since the first is not answered. */
async function pipelined() {
  const exchanges: [req: IncomingMessage, res: ServerResponse][] = [];
  const both = signal();
  const { port, close } = await listen((req, res) => {
    exchanges.push([req, res]);
    if (exchanges.length === 2) both.happens();
  });
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.write(request + request);
  await both.happened;
  return { client, first: exchanges[0], second: exchanges[1], close } as {
    client: typeof client;
    first: [IncomingMessage, ServerResponse];
    second: [IncomingMessage, ServerResponse];
    close: typeof close;
  };
}

describe('the end of an exchange', () => {
  it('is told to a pipelined response that waits for its turn, when its connection closes; to each listener once, and to a later one at once', async () => {
    const {
      client,
      second: [req, res],
      close,
    } = await pipelined();
    let told = 0;
    const ended = signal();
    onExchangeEnd(req, res, () => {
      told++;
    });
    onExchangeEnd(req, res, () => {
      told++;
      ended.happens();
    });
    const closed = once(req.socket, 'close');
    client.destroy();
    await Promise.all([closed, ended.happened]);
    expect(told).toBe(2);
    expect(isExchangeOver(req, res)).toBe(true);
    onExchangeEnd(req, res, () => {
      told++;
    });
    expect(told).toBe(3);
    await close();
  });

  it.each<[string, RequestHandler[]]>([
    ['with idempotency()', [idempotency()]],
    ['without idempotency()', []],
  ])('gives back the memory and the files of pipelined requests whose handler destroys them, %s', async (_, guards) => {
    class Upload extends dto({ photo: file }) {}
    class Text extends dto({ text: string }) {}
    const uploads = new TemporaryDirectory();
    const destroyed = signal();
    const destroy: RequestHandler = (_req, res) => {
      res.destroy();
      if (++count === 2) setImmediate(destroyed.happens);
    };
    let count = 0;
    const app = express()
      .post('/slow', () => undefined)
      .post('/text', ...guards, bindRequest(Text), destroy)
      .post(
        '/upload',
        ...guards,
        bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: uploads.path } }),
        destroy,
      );
    const { port, close } = await listen(app);
    const sent = (path: string, type: string, body: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const form = `--x\r\nContent-Disposition: form-data; name="photo"; filename="a"\r\n\r\n${'x'.repeat(50_000)}\r\n--x--\r\n`;
    const before = held.weight;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write(sent('/slow', 'text/plain', ''));
    client.write(sent('/text', 'application/json', JSON.stringify({ text: 'x'.repeat(100_000) })));
    client.write(sent('/upload', 'multipart/form-data; boundary=x', form));
    await destroyed.happened;
    client.destroy();
    await uploads.emptied();
    while (held.weight !== before) await turn();
    uploads.remove();
    await close();
  });

  it('aborts the signal of a binder whose response waits for its turn, when the connection closes', async () => {
    const {
      client,
      second: [req, res],
      close,
    } = await pipelined();
    const signal = clientSignal(req, res);
    const aborted = once(signal, 'abort');
    client.destroy();
    await aborted;
    expect(signal.reason).toMatchObject({ name: 'ClientGone' });
    await close();
  });
});
