import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, file, idempotency, string } from '../../lib';
import { clientSignal } from '../../lib/binding/bind-request';
import { held } from '../../lib/body/stream/holding';
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
  it('is told when the response was sent', async () => {
    const ended = signal();
    const { url, close } = await listen((req, res) => {
      onExchangeEnd(req, res, () => {
        ended.happens();
      });
      res.end();
    });
    await fetch(url);
    await ended.happened;
    await close();
  });

  it('is told to a pipelined response that waits for its turn, when its connection closes; to each listener once', async () => {
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
    await close();
  });

  it('is told once, and `close` is emitted once, if the client leaves after the turn of a pipelined response has come', async () => {
    const {
      client,
      first: [, first],
      second: [req, res],
      close,
    } = await pipelined();
    const told: string[] = [];
    onExchangeEnd(req, res, () => told.push('end'));
    res.on('close', () => told.push('close'));
    const itsTurn = Promise.all([once(res, 'socket'), once(client, 'data')]);
    first.end();
    await itsTurn;
    const closed = once(req.socket, 'close');
    client.destroy();
    await closed;
    // A second `close` would come in one of the next turns.
    for (let count = 0; count < 5; count++) await turn();
    await close();
    expect(told).toEqual(['end', 'close']);
  });

  describe('of a pipelined response that its handler has destroyed', () => {
    it.each<[when: string, end: (pipeline: Awaited<ReturnType<typeof pipelined>>) => unknown]>([
      [
        'when its connection closes',
        ({ client, second: [{ socket }] }) => {
          const closed = once(socket, 'close');
          client.destroy();
          return closed;
        },
      ],
      ['when its turn comes', ({ first: [, first] }) => first.end()],
    ])('is told once, and `close` is emitted once, %s', async (_when, end) => {
      const pipeline = await pipelined();
      const [req, res] = pipeline.second;
      const told: string[] = [];
      const ended = signal();
      onExchangeEnd(req, res, () => {
        told.push('end');
        ended.happens();
      });
      res.on('close', () => told.push('close'));
      res.destroy();
      await Promise.all([end(pipeline), ended.happened]);
      // A second `close` would come in one of the next turns.
      for (let count = 0; count < 5; count++) await turn();
      expect(told.filter(one => one === 'end')).toHaveLength(1);
      await pipeline.close();
    });
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

  it('is told at once if the exchange is already over, unless the call was withdrawn', async () => {
    const {
      client,
      first: [, held],
      second: [req, res],
      close,
    } = await pipelined();
    let told = 0;
    const takeBack = onExchangeEnd(req, res, () => {
      told += 10;
    });
    takeBack();
    const closed = once(req.socket, 'close');
    client.destroy();
    await closed;
    onExchangeEnd(req, res, () => {
      told++;
    });
    expect([told, held.destroyed]).toEqual([1, true]);
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
