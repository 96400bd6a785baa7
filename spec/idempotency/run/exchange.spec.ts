import type { ErrorRequestHandler, RequestHandler } from 'express';
import { expressVersions } from '../../support/express-versions';
import { guarded, type Keyed, type Run } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import { signal } from '../../support/signal';

const HEAD_SENT =
  /^ ?idempotency: a middleware that .* has sent the head of the response, .* Mount idempotency\(\) before it\.$/;
const refused = expect.stringMatching(HEAD_SENT) as string;
const endResponse: ErrorRequestHandler = (error: Error, _req, res, next) => {
  if (res.headersSent) res.end(error.message);
  else next(error);
};

describe.each(expressVersions)('a guard behind a middleware that has begun the response, %s,', (_version, version) => {
  it.each<[string, Keyed]>([
    ['with a key', {}],
    ['without a key', { key: '' }],
  ])('refuses a request %s to the error handlers, which end the response, and nothing runs', async (_title, sent) => {
    const begin: RequestHandler = (_req, res, next) => next(res.flushHeaders());
    const { app, post, log, runs } = await guarded({}, undefined, { version, before: [begin] });
    app.use(endResponse);
    expect([(await post(sent)).text, log.kinds, runs()]).toEqual([refused, ['refused'], 0]);
  });

  it('refuses a request whose response is begun while it waits for another', async () => {
    const [running, begun, mayEnd] = [signal(), signal(), signal()];
    const beginLater: RequestHandler = (req, res, next) => {
      next();
      if (req.get('X-Marked')) setImmediate(() => begun.happens(res.flushHeaders()));
    };
    const act: Run = async (_req, res) => {
      running.happens();
      await mayEnd.happened;
      res.send('done');
    };
    const { app, post, log } = await guarded({}, act, { version, before: [beginLater] });
    app.use(endResponse);
    const first = post();
    await running.happened;
    const waiting = post({ headers: { 'X-Marked': '1' } });
    await begun.happened;
    mayEnd.happens();
    expect([(await first).text, (await waiting).text]).toEqual(['done', refused]);
    expect([...log.kinds].sort()).toEqual(['executed', 'refused']);
  });
});

it('a store that fails is told of by one process warning, where no onEvent hears of it', async () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const leases = new HookedLeases({ acquire: () => Promise.reject(new Error('connection refused')) });
  const { post } = await guarded({ leases, onEvent: undefined });
  for (const key of ['a', 'b']) expect((await post({ key })).status).toBe(503);
  const texts = emitted.mock.calls.map(([text]: unknown[]) => String(text));
  emitted.mockRestore();
  expect(texts).toEqual([
    'idempotency: acquire() of the lease store failed: connection refused. Check the store and its connection. ' +
      'Later failures of the store are told to onEvent only.',
  ]);
});
