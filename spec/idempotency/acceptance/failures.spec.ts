import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import compression from 'compression';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import session from 'express-session';
import { idempotency } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded, seen, type Run } from '../../support/guarded';
import { visible, visibleReplay } from '../../support/replays';

/** What has broken in other libraries, and must hold when a handler fails, or a response stops half-way. */

const CUT_OFF = /aborted|cut off|socket hang up|ECONNRESET/;
const teapot = Object.assign(new Error('no coffee'), { status: 418 });
const throwTeapot = (): never => {
  throw teapot;
};

async function* breaking(): AsyncGenerator<string> {
  yield 'half';
  await pause(5);
  throw new Error('broken');
}

/** A response of which half is written, as its handler has announced. */
const half = (res: Response, length?: string): Response => {
  if (length !== undefined) res.set('Content-Length', length);
  res.type('text').write('half');
  return res;
};

describe.each(expressVersions)('%s', (name, version) => {
  const ownAnswer: ErrorRequestHandler = (error: Error, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(500).json({ sorry: error.message });
  };
  it.each<[how: string, fail: Run]>([
    ['throws', throwTeapot],
    ['calls next(err)', (_req, _res, next) => next(teapot)],
    ['calls next(err) later', (_req, _res, next) => setImmediate(() => next(teapot))],
    // On Express 4 nobody hears of a rejection: the row that follows, and `processes.spec.ts`.
    ...(name === 'Express 5' ? [['rejects', () => Promise.reject(teapot)] as [string, Run]] : []),
  ])(
    'a handler %s and Express, or an error handler, answers: a retry gets that answer, or runs again where failures are not to be kept',
    async (_how, fail) => {
      for (const onError of [undefined, ownAnswer]) {
        const act: Run = (req, res, next, run) => (run === 1 ? fail(req, res, next, run) : res.send('well'));
        const kept = await guarded({}, act, { version });
        const notKept = await guarded({ shouldCache: ({ status }) => status < 400 }, act, { version });
        if (onError) for (const { app } of [kept, notKept]) app.use(onError);
        const failed = visible(await kept.post());
        expect(failed.status).toBe(onError ? 500 : 418);
        expect(visibleReplay(await kept.post())).toEqual(failed);
        expect([(await notKept.post()).status, seen(await notKept.post())]).toEqual([failed.status, 'well']);
        expect([kept.runs(), notKept.runs()]).toEqual([1, 2]);
      }
    },
  );

  it.each<[how: string, runsAgain: boolean, cut: Run]>([
    [
      'destroys it between two writes',
      true,
      (_req, res) => half(res) && setImmediate(() => res.write('two') && res.destroy(teapot)),
    ],
    ['destroys it before it has written', true, (_req, res) => res.destroy()],
    ['destroys it at the end of its Content-Length, without an end', true, (_req, res) => half(res, '4').destroy()],
    ['throws after writeHead', false, (_req, res) => res.writeHead(200) && throwTeapot()],
    ['throws at the end of its Content-Length, without an end', false, (_req, res) => half(res, '4') && throwTeapot()],
    ['closes the connection after a flush', false, (req, res) => (res.flushHeaders(), req.socket.destroy(teapot))],
    ['pipes a source that breaks', true, (_req, res) => pipeline(Readable.from(breaking()), res).catch(() => 0)],
    ['throws in the middle', false, (_req, res) => half(res) && throwTeapot()],
    ['calls next(err) in the middle', false, (_req, res, next) => half(res) && next(teapot)],
    ['ends it under its Content-Length', true, (_req, res) => res.writeHead(200, { 'Content-Length': 100 }).end('x')],
    ['closes the connection', false, (req, res) => half(res) && req.socket.destroy()],
  ])('a response is not stored as complete when its handler %s', async (_how, runsAgain, cut) => {
    const act: Run = (req, res, next, run) => (run === 1 ? cut(req, res, next, run) : res.send('whole'));
    const { post, log, runs } = await guarded({ leaseDuration: 100 }, act, { version });
    await expect(post()).rejects.toThrow(CUT_OFF);
    expect((await post()).text).toContain(runsAgain ? 'whole' : 'response-unavailable');
    expect([runs(), log.kinds[0]]).toEqual([runsAgain ? 2 : 1, 'not-stored']);
  });

  const ends: ((res: Response) => unknown)[] = [
    res => res.status(201).json({ first: true }),
    res => res.status(201) && half(res).end('end'),
    res => res.sendStatus(204),
  ];
  const around = [
    [],
    [compression()],
    [session({ secret: 's', resave: true, saveUninitialized: true, genid: () => 'one' })],
  ];
  it.each<[what: string, after: Run]>([
    ['throws', throwTeapot],
    ['sends a second json', (_req, res) => res.status(500).json({ second: true })],
    ['sends a second response with another type', (_req, res) => res.type('text').send('second')],
    ['redirects', (_req, res) => res.redirect('/elsewhere')],
    ['writes and ends', (_req, res) => [res.write('more'), res.end('more')]],
    ['sets a header', (_req, res) => res.set('X-Late', '1')],
    ['writes a head', (_req, res) => res.writeHead(500)],
    ['changes status and reason', (_req, res) => Object.assign(res, { statusCode: 500, statusMessage: 'Late' })],
    ['destroys the response', (_req, res) => res.destroy()],
    ['destroys the request', req => req.destroy()],
    ['destroys the socket', req => req.socket.destroy()],
    ['adds trailers', (_req, res) => res.addTrailers({ 'X-Late': '1' })],
    ['calls next()', (_req, _res, next) => next()],
    ['calls next(err)', (_req, _res, next) => next(teapot)],
  ])(
    'a handler has ended its response, by json, writes or 204, behind any middleware, and %s: neither what is sent nor what is stored is changed',
    async (_what, after) => {
      for (const end of ends)
        for (const before of around) {
          const act: Run = (req, res, next, run) => {
            res.on('error', () => undefined);
            end(res);
            return run === 0 ? undefined : after(req, res, next, run);
          };
          const { post } = await guarded({ addHeaderToResponse: false }, act, { version, before });
          const first = visible(await post());
          expect(first).toEqual(visible(await post({ path: '/bare' })));
          expect(visibleReplay(await post())).toEqual(first);
        }
    },
  );
});

it('what a next() of the application throws is its error, and frees the key', async () => {
  const guard = idempotency();
  // It calls next() itself, and that may throw.
  const calling: RequestHandler = (req, res, next) =>
    guard(req, res, error => {
      if (error) next(error);
      else if (req.headers['x-fails']) throw teapot;
      else res.send('ran');
    });
  const { app, post } = await guarded(calling);
  app.use(((error, _req, res, next) => (error === teapot ? res.send('failed') : next(error))) as ErrorRequestHandler);
  const answers = [await post({ headers: { 'X-Fails': '1' } }), await post(), await post()];
  expect(answers.map(({ text }) => text)).toEqual(['failed', 'ran', 'ran']);
});
