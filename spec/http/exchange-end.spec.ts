import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, file, idempotency, string } from '../../lib';
import { clientSignal } from '../../lib/binding/bind-request';
import { held } from '../../lib/body/kept-bytes';
import { isExchangeOver, onExchangeEnd } from '../../lib/http/exchange-end';
import { listen } from '../support/listen';
import { RawClient, requestTo } from '../support/raw-client';
import { signal } from '../support/signal';
import { TemporaryDirectory } from '../support/temporary-directory';

/** Two requests on one connection: the second waits for its turn, since the first is not answered. */
async function pipelined() {
  const exchanges: [req: IncomingMessage, res: ServerResponse][] = [];
  const both = signal();
  const { port, close } = await listen((req, res) => {
    exchanges.push([req, res]);
    if (exchanges.length === 2) both.happens();
  });
  const client = RawClient.asks(port);
  await client.send(requestTo(port));
  await both.happened;
  return { client, second: exchanges[1] as (typeof exchanges)[number], close };
}

describe('the end of an exchange', () => {
  it('is told to a pipelined response that waits for its turn, when its connection closes; to each listener once, and to a later one at once', async () => {
    const { client, second, close } = await pipelined();
    const [req, res] = second;
    const told = jest.fn();
    const ended = signal();
    onExchangeEnd(req, res, told);
    onExchangeEnd(req, res, () => ended.happens(told()));
    const closed = once(req.socket, 'close');
    client.leave();
    await Promise.all([closed, ended.happened]);
    expect([told.mock.calls.length, isExchangeOver(req, res)]).toEqual([2, true]);
    onExchangeEnd(req, res, told);
    expect(told).toHaveBeenCalledTimes(3);
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
    const client = RawClient.asks(port, '/slow');
    void client.send(sent('/text', 'application/json', JSON.stringify({ text: 'x'.repeat(100_000) })));
    void client.send(sent('/upload', 'multipart/form-data; boundary=x', form));
    await destroyed.happened;
    client.leave();
    await uploads.emptied();
    while (held.weight !== before) await turn();
    uploads.remove();
    await close();
  });

  it('aborts the signal of a binder whose response waits for its turn, when the connection closes', async () => {
    const { client, second, close } = await pipelined();
    const [req, res] = second;
    const signal = clientSignal(req, res);
    const aborted = once(signal, 'abort');
    client.leave();
    await aborted;
    expect(signal.reason).toMatchObject({ name: 'ClientGone' });
    await close();
  });
});
