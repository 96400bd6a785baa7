import { once } from 'node:events';
import type { RequestHandler } from 'express';
import type { IdempotencyOptions } from '../../lib';
import { guarded, seen, type Run } from '../support/guarded';
import { signal } from '../support/signal';

/** An application whose handler stays in flight until it is told to answer. */
async function inFlight(
  options: IdempotencyOptions = {},
  answer: Run = (_req, res, _next, run) => res.status(201).json({ run }),
) {
  const [running, mayAnswer] = [signal(), signal()];
  let arrived = 0;
  const counts: RequestHandler = (_req, _res, next) => {
    arrived++;
    next();
  };
  const act: Run = async (...given) => {
    running.happens();
    await mayAnswer.happened;
    answer(...given);
  };
  const { post, server, log, runs } = await guarded(options, act, { before: [counts] });
  return {
    log,
    runs,
    running: running.happened,
    mayAnswer: () => mayAnswer.happens(),
    post: (body = '') => post({ body, headers: { 'Content-Type': 'text/plain' } }),
    /** All of them have been received. */
    async received(count: number): Promise<void> {
      while (arrived < count) await once(server, 'request');
      await new Promise(setImmediate);
    },
  };
}

describe('concurrent duplicates', () => {
  it('share the failure of the first', async () => {
    const { mayAnswer, runs, post, received } = await inFlight({}, (_req, res) => res.status(500).send('broken'));
    const answers = Promise.all([post(), post(), post()]);
    await received(3);
    mayAnswer();
    expect((await answers).map(({ status, text }) => `${status} ${text}`)).toEqual(Array(3).fill('500 broken'));
    expect(runs()).toBe(1);
  });

  it('of different requests do not wait for each other', async () => {
    const { mayAnswer, runs, post } = await inFlight();
    const answers = Promise.all([post('a'), post('b')]);
    while (runs() < 2) await new Promise(setImmediate);
    mayAnswer();
    expect(new Set((await answers).map(({ text }) => text)).size).toBe(2);
  });
});

describe('a duplicate of a request that is running', () => {
  it('gets a 409 at once, with Retry-After, when whenInFlight is reject', async () => {
    const { log, running, mayAnswer, post } = await inFlight({ whenInFlight: 'reject' });
    const first = post();
    await running;
    const { status, headers, text } = await post();
    expect([status, headers['content-type']]).toEqual([409, 'application/problem+json; charset=utf-8']);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(JSON.parse(text)).toEqual({
      type: 'urn:bindonce:request-in-flight',
      title: 'A request with this idempotency key is in flight',
      status: 409,
      detail: expect.any(String) as string,
      instance: '/',
    });
    mayAnswer();
    expect([seen(await first), seen(await post())]).toEqual(['{"run":1}', '{"run":1} again']);
    expect(log.kinds).toEqual(['conflicted', 'executed', 'replayed']);
  });

  it('gets a 409 when waitTimeout is over', async () => {
    const { log, running, mayAnswer, runs, post } = await inFlight({ waitTimeout: 60 });
    const first = post();
    await running;
    const begun = performance.now();
    expect((await post()).status).toBe(409);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(59);
    mayAnswer();
    await first;
    expect([runs(), log.kinds]).toEqual([1, ['conflicted', 'executed']]);
  });
});

describe('when whenKeyReused is reject', () => {
  it('200 concurrent requests with two bodies are one run', async () => {
    const { mayAnswer, runs, post, received } = await inFlight({ whenKeyReused: 'reject' });
    const answers = Promise.all(Array.from({ length: 200 }, (_, index) => post(index % 2 ? 'a' : 'b')));
    await received(200);
    mayAnswer();
    const statuses = (await answers).map(({ status }) => status);
    expect([201, 422].map(each => statuses.filter(status => status === each).length)).toEqual([100, 100]);
    expect(runs()).toBe(1);
  });

  it('a key is free for another request when the first was forgotten', async () => {
    const { mayAnswer, runs, post } = await inFlight({ whenKeyReused: 'reject' }, (req, res, _next, run) => {
      if (run === 1) req.idempotency.forget();
      res.send('x');
    });
    mayAnswer();
    const statuses = [(await post('a')).status, (await post('b')).status, (await post('a')).status];
    expect([...statuses, runs()]).toEqual([200, 200, 422, 2]);
  });
});
