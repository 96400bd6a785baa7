import express, { type RequestHandler } from 'express';
import { bindRequest, dto, idempotency, int } from '../../../lib';
import { serve } from '../../support/serve';
import { send } from '../../support/listen';
import { RawClient } from '../../support/raw-client';
import { keyed } from '../../support/replays';

const BODY = '{"n":1}';
const headers = keyed('k', { 'Content-Type': 'application/json' });

const bind = bindRequest(dto({ n: int })) as RequestHandler;

const decline: RequestHandler = (req, res) => void res.status(402).json({ declined: (req.dto ?? req.body) as unknown });
const DECLINED = '{"declined":{"n":1}}';

describe('when a whole request has come, and its client resets the connection before node says that it has,', () => {
  /**
   * The client resets the connection when the handler begins, and something is written to it before node is done with
   * the last bytes of the request.
   */
  const reset = async (
    handlers: (cut: RequestHandler) => RequestHandler[],
  ): Promise<{ runs: number; status: number; text: string }> => {
    let runs = 0;
    const cut: RequestHandler = (_req, res, next) => {
      runs++;
      client.socket.resetAndDestroy();
      if (runs === 1) res.writeEarlyHints({ link: '</a.css>; rel=preload' });
      void ticks().then(next);
    };
    const app = express().post('/', ...handlers(cut));
    const { port, url } = await serve(app);
    const client = new RawClient(port);
    const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, 'Content-Length': BODY.length });
    await client.send(`POST / HTTP/1.1\r\n${lines.map(line => line.join(': ')).join('\r\n')}\r\n\r\n${BODY}`);
    await client.closed();
    const { status, text } = await send(url, { headers, body: BODY });
    return { runs, status, text };
  };
  const guard = idempotency();

  it.each<[string, (cut: RequestHandler) => RequestHandler[], string]>([
    ['a handler', cut => [guard, cut, (_req, res) => void res.status(402).send('declined')], 'declined'],
    ['a handler behind bindRequest()', cut => [guard, cut, bind, decline], DECLINED],
    [
      'a handler behind ignoreRequestBody and bindRequest()',
      cut => [idempotency({ ignoreRequestBody: true }), bind, cut, decline],
      DECLINED,
    ],
  ])('the error that %s answers is stored', async (_title, handlers, text) => {
    expect(await reset(handlers)).toMatchObject({ runs: 1, status: 402, text });
  });
});

/** Lets ticks pass, in which node notices that the connection is reset. */
async function ticks(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await new Promise<void>(process.nextTick);
}
