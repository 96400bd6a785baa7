import { Keyv } from 'keyv';
import express, { type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { idempotency, type LeaseStore } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

const MARKED = { 'X-Marked': '1' };

const HEAD_SENT =
  /^ ?idempotency: a middleware that .* has sent the head of the response, .* Mount idempotency\(\) before it\.$/;

describe.each(expressVersions)('a guard behind a middleware that has begun the response, %s,', (_version, express) => {
  it.each<[string, Record<string, string>]>([
    ['with a key', keyed('k')],
    ['without a key', {}],
  ])(
    'refuses a request %s to the error handlers, which end the response, and nothing runs',
    async (_title, headers) => {
      const refusals: string[] = [];
      const endResponse: ErrorRequestHandler = (error: Error, _req, res, next) => {
        refusals.push(error.message);
        if (res.headersSent) res.end('refused');
        else next(error);
      };
      const begin: RequestHandler = (_req, res, next) => {
        res.flushHeaders();
        next();
      };
      const handler: RequestHandler = (_req, res) => res.end('ran');
      const log = new EventLog();
      const { url } = await serve(
        express()
          .post('/', begin, idempotency({ onEvent: log.onEvent }), handler)
          .use(endResponse),
      );

      const answer = await send(url, { headers });

      expect([answer.text, log.kinds, refusals]).toEqual(['refused', ['refused'], [expect.stringMatching(HEAD_SENT)]]);
    },
  );
});

describe.each(expressVersions)('on %s, behind a middleware that writes to the response later,', (_version, express) => {
  /**
   * @param write what the earlier middleware does to the response of a marked request, when `mayWrite` happens.
   */
  const served = async (write: (res: Response) => void) => {
    const log = new EventLog();
    const asking = signal();
    const mayAsk = signal();
    const arrived = signal();
    const mayWrite = signal();
    const written = signal();
    const running = signal();
    const mayRespond = signal();
    const state = { runs: 0, isSlow: false };
    const leases = new HookedLeases({
      acquire: async () => {
        if (!state.isSlow) return;
        state.isSlow = false;
        asking.happens();
        await mayAsk.happened;
      },
    });
    const earlier: RequestHandler = (req, res, next) => {
      next();
      if (!req.get('X-Marked')) return;
      arrived.happens();
      void mayWrite.happened.then(() => {
        write(res);
        written.happens();
      });
    };
    const endResponse: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) res.end(error.message);
      else next(error);
    };
    const guard = idempotency({ onEvent: log.onEvent, store: new Keyv(), leases, storeTimeout: 60_000 });
    const app = express()
      .use(earlier)
      .post('/', guard, (_req, res) => {
        state.runs++;
        running.happens();
        void mayRespond.happened.then(() => res.send('done'));
      })
      .use(endResponse);
    return { log, asking, mayAsk, arrived, mayWrite, written, running, mayRespond, state, ...(await serve(app)) };
  };
  const begins: [title: string, begin: (res: Response) => void][] = [
    ['writes', res => res.write(' ')],
    ['flushes the head', res => res.flushHeaders()],
  ];

  it.each(begins)('which %s while the request waits for another, it is refused', async (_title, begin) => {
    const { url, log, running, arrived, mayWrite, written, mayRespond, state } = await served(begin);
    const first = send(url, { headers: keyed('k') });
    await running.happened;
    const waiting = send(url, { headers: keyed('k', MARKED) });
    await arrived.happened;
    mayWrite.happens();
    await written.happened;
    mayRespond.happens();

    expect((await first).text).toBe('done');
    expect((await waiting).text).toMatch(HEAD_SENT);
    expect((await send(url, { headers: keyed('k') })).text).toBe('done');
    expect([log.kinds, state.runs]).toEqual([['executed', 'refused', 'replayed'], 1]);
  });
});

it('a store that fails is told of by one process warning, where no onEvent hears of it', async () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  const leases: LeaseStore = { acquire: refuse, renew: refuse, complete: refuse, release: refuse };
  const app = express().post('/', idempotency({ leases }), (_req, res) => void res.send('done'));
  const { url } = await serve(app);
  for (const key of ['a', 'b']) expect((await send(url, { headers: keyed(key) })).status).toBe(503);
  const texts = emitted.mock.calls.map(([text]: unknown[]) => String(text));
  emitted.mockRestore();
  expect(texts).toEqual([
    'idempotency: acquire() of the lease store failed: connection refused. Check the store and its connection. ' +
      'Later failures of the store are told to onEvent only.',
  ]);
});
