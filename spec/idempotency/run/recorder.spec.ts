import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed, visible, visibleReplay } from '../../support/replays';

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

describe.each(expressVersions)('on %s, what node refuses is the error that it is without us:', (_version, express) => {
  it.each<[string, (res: Response) => unknown]>([
    ['a status that is none', res => res.writeHead(99).end()],
    ['a reason phrase of two lines', res => res.writeHead(200, 'a\nb').end()],
    [
      'a reason phrase of two lines by statusMessage',
      res => {
        res.statusMessage = 'a\nb';
        res.end();
      },
    ],
    ['a header of two lines', res => res.writeHead(200, { 'X-A': 'a\nb' }).end()],
    ['a header name of two words', res => res.writeHead(200, { 'X A': 'a' }).end()],
    ['a header that is undefined', res => res.writeHead(200, { 'X-A': undefined }).end()],
    ['a header that is undefined, under an error status', res => res.writeHead(404, { 'X-A': undefined }).end()],
    ['a chunk that is none', res => res.write(1 as never)],
    ['an end that is none', res => res.end({} as never)],
  ])(
    '%s',
    async (_title, act) => {
      const codes: unknown[] = [];
      const handler: RequestHandler = (_req, res) => {
        act(res);
      };
      const onError: ErrorRequestHandler = (error: NodeJS.ErrnoException, _req, _res, next) => {
        codes.push(error.code);
        next(error);
      };
      const app = express()
        .set('env', 'test')
        .post('/bare', handler)
        .post('/guarded', idempotency({ addHeaderToResponse: false }), handler)
        .use(onError);
      const { url } = await serve(app);
      const [bare, first, replay] = [
        await send(`${url}/bare`),
        await send(`${url}/guarded`, { headers: keyed('k') }),
        await send(`${url}/guarded`, { headers: keyed('k') }),
      ];
      expect([first.status, first.reason]).toEqual([bare.status, bare.reason]);
      expect(visibleReplay(replay)).toEqual(visible(first));
      expect(codes[1]).toBe(codes[0]);
      expect(codes).toHaveLength(2);
    },
    60_000,
  );
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
