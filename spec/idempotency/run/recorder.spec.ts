import type { Response } from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

describe.each(expressVersions)('while a response is under way on %s', (_version, express) => {
  it.each<[string, (res: Response) => void]>([
    ['writeHead', res => void res.writeHead(200)],
    ['flushHeaders', res => res.flushHeaders()],
    ['write', res => void res.write('x')],
  ])('headersSent is true at once after %s, and writableEnded is not', async (_title, begin) => {
    const seen: boolean[] = [];
    const app = express().post('/', idempotency(), (_req, res) => {
      begin(res);
      seen.push(res.headersSent, res.writableEnded);
      res.end();
    });
    await send((await serve(app)).url, { headers: keyed('k') });
    expect(seen).toEqual([true, false]);
  });
});

describe.each(expressVersions)('callbacks on %s', (_version, express) => {
  it.each<[string, (res: Response) => void]>([
    ['of unknown length', () => undefined],
    ['that reaches the Content-Length', res => void res.set('Content-Length', '5')],
    ['that has no content', res => void res.status(204)],
  ])(
    'a handler may wait for the callback of a write %s before it ends',
    async (_title, prepare) => {
      const app = express().post('/', idempotency(), (_req, res) => {
        prepare(res);
        res.write('hello', () => void res.end());
      });
      expect((await send((await serve(app)).url, { headers: keyed('k') })).status).toBeGreaterThan(199);
    },
    60_000,
  );

  it('of end are called after the response has left', async () => {
    const called = signal();
    const app = express().post('/', idempotency(), (_req, res) => void res.end('x', () => called.happens()));
    expect((await send((await serve(app)).url, { headers: keyed('k') })).text).toBe('x');
    await called.happened;
  });
});
