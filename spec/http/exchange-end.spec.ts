import { once } from 'node:events';
import { connect } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isExchangeOver, onExchangeEnd } from '../../lib/http/exchange-end';
import { listen } from '../servers/listen';
import { signal } from '../idempotency/signal';

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
  return { client, first: exchanges[0], second: exchanges[1], close } as { client: typeof client; first: [IncomingMessage, ServerResponse]; second: [IncomingMessage, ServerResponse]; close: typeof close };
}

describe('the end of an exchange', () => {
  it('is told when the response was sent', async () => {
    const ended = signal();
    const { url, close } = await listen((req, res) => {
      onExchangeEnd(req, res, () => { ended.happens(); });
      res.end();
    });
    await fetch(url);
    await ended.happened;
    await close();
  });

  it('is told to a pipelined response that waits for its turn, when its connection closes; to each listener once', async () => {
    const { client, second: [req, res], close } = await pipelined();
    let told = 0;
    const ended = signal();
    onExchangeEnd(req, res, () => { told++; });
    onExchangeEnd(req, res, () => { told++; ended.happens(); });
    const closed = once(req.socket, 'close');
    client.destroy();
    await Promise.all([closed, ended.happened]);
    expect(told).toBe(2);
    expect(isExchangeOver(req, res)).toBe(true);
    await close();
  });

  it('is told at once when the exchange is over already, and not to whoever has taken the call back', async () => {
    const { client, first: [, held], second: [req, res], close } = await pipelined();
    let told = 0;
    const takeBack = onExchangeEnd(req, res, () => { told += 10; });
    takeBack();
    const closed = once(req.socket, 'close');
    client.destroy();
    await closed;
    onExchangeEnd(req, res, () => { told++; });
    expect([told, held.destroyed]).toEqual([1, true]);
    await close();
  });

  it('adds one listener to the connection for all pipelined responses', async () => {
    const { second: [req, res], close } = await pipelined();
    const before = req.socket.listenerCount('close');
    for (let count = 0; count < 20; count++) onExchangeEnd(req, res, () => undefined)();
    expect(req.socket.listenerCount('close')).toBe(before + 1);
    await close();
  });
});
