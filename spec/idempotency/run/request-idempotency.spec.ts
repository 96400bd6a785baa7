import express, { type RequestHandler } from 'express';
import { bindRequest, dto, idempotency, int } from '../../../lib';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

describe('req.idempotency', () => {
  it.each<[string, RequestHandler]>([
    [
      'copied',
      (req, _res, next) => {
        Object.assign(req, { idempotency: { ...req.idempotency } });
        next();
      },
    ],
    [
      'wrapped',
      (req, _res, next) => {
        Object.assign(req, { idempotency: new Proxy(req.idempotency, {}) });
        next();
      },
    ],
  ])('is told of a refusal when a middleware has %s it: the key stays usable', async (_how, change) => {
    let valid = false;
    const app = express()
      .post(
        '/',
        idempotency({ ignoreRequestBody: true }),
        change,
        bindRequest(dto({ n: int })),
        (_req, res) => void res.send('ran'),
      )
      .use(express.json());
    const { url } = await serve(app);
    const ask = () =>
      send(url, { headers: keyed('refused', { 'Content-Type': 'application/json' }), body: valid ? '{"n":1}' : '{}' });
    expect((await ask()).status).toBe(400);
    valid = true;
    expect((await ask()).text).toBe('ran');
  });

  it('has a signal that says why it aborts after forget()', async () => {
    let reason: unknown;
    const app = express().post('/', idempotency(), (req, res) => {
      const { signal, forget } = req.idempotency;
      signal.addEventListener('abort', () => (reason = signal.reason));
      forget();
      res.end();
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('forgotten') });
    expect(String(reason)).toMatch(/^Error: The idempotency lease was given back: /);
  });
});
