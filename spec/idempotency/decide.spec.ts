import { once } from 'node:events';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { EventLog } from '../support/event-log';
import { HookedLeases } from '../support/hooked-leases';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

/** An application whose handler stays in flight until it is told to answer. */
async function inFlight(
  options: IdempotencyOptions,
  answer: RequestHandler = (_req, res) => void res.status(201).cookie('a', '1').json({ id: Math.random() }),
) {
  const log = new EventLog();
  const running = signal();
  const mayAnswer = signal();
  const state = { runs: 0, arrived: 0 };
  const app = express()
    .use((_req, _res, next) => {
      state.arrived++;
      next();
    })
    .post('/', idempotency({ onEvent: log.onEvent, ...options }), (req, res, next) => {
      state.runs++;
      running.happens();
      void mayAnswer.happened.then(() => answer(req, res, next));
    });
  const { url, server } = await serve(app);
  const post = (body = ''): Promise<WireResponse> =>
    send(url, { headers: keyed('k', { 'Content-Type': 'text/plain' }), body });
  /** All of them have been received. */
  const received = async (count: number): Promise<void> => {
    while (state.arrived < count) await once(server, 'request');
    await new Promise(setImmediate);
  };
  return { log, running, mayAnswer, state, post, received };
}

describe('concurrent duplicates', () => {
  it('share the failure of the first', async () => {
    const { mayAnswer, state, post, received } = await inFlight({}, (_req, res) => void res.status(500).send('broken'));
    const answers = Promise.all([post(), post(), post()]);
    await received(3);
    mayAnswer.happens();
    expect((await answers).map(({ status, text }) => [status, text])).toEqual([
      [500, 'broken'],
      [500, 'broken'],
      [500, 'broken'],
    ]);
    expect(state.runs).toBe(1);
  });

  it('of different requests do not wait for each other', async () => {
    const { mayAnswer, state, post, received } = await inFlight({});
    const answers = Promise.all([post('a'), post('b')]);
    await received(2);
    while (state.runs < 2) await new Promise(setImmediate);
    mayAnswer.happens();
    expect(new Set((await answers).map(({ text }) => text)).size).toBe(2);
  });
});

describe('a duplicate of a request that is running', () => {
  it('gets a 409 at once, with Retry-After, when whenInFlight is reject', async () => {
    const { log, running, mayAnswer, post } = await inFlight({ whenInFlight: 'reject' });
    const first = post();
    await running.happened;
    const second = await post();
    expect(second.status).toBe(409);
    expect(second.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(JSON.parse(second.text)).toEqual({
      type: 'urn:bindonce:request-in-flight',
      title: 'A request with this idempotency key is in flight',
      status: 409,
      detail: expect.any(String) as string,
      instance: '/',
    });
    mayAnswer.happens();
    expect((await first).status).toBe(201);
    expect((await post()).headers['idempotent-replayed']).toBe('true');
    expect(log.kinds).toEqual(['conflicted', 'executed', 'replayed']);
  });

  it('gets a 409 when waitTimeout is over', async () => {
    const { log, running, mayAnswer, state, post } = await inFlight({ waitTimeout: 60 });
    const first = post();
    await running.happened;
    const begun = performance.now();
    expect((await post()).status).toBe(409);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(59);
    mayAnswer.happens();
    await first;
    expect(state.runs).toBe(1);
    expect(log.kinds).toEqual(['conflicted', 'executed']);
  });
});

describe('when whenKeyReused is reject', () => {
  it('200 concurrent requests with two bodies are one run', async () => {
    const { mayAnswer, state, post, received } = await inFlight({ whenKeyReused: 'reject' });
    const answers = Promise.all(Array.from({ length: 200 }, (_, index) => post(index % 2 ? 'a' : 'b')));
    await received(200);
    mayAnswer.happens();
    const statuses = (await answers).map(({ status }) => status);
    expect(statuses.filter(status => status === 201)).toHaveLength(100);
    expect(statuses.filter(status => status === 422)).toHaveLength(100);
    expect(state.runs).toBe(1);
  });

  it('a key is free for another request when the first was forgotten', async () => {
    const { mayAnswer, state, post } = await inFlight({ whenKeyReused: 'reject' }, (req, res) => {
      if (state.runs === 1) req.idempotency.forget();
      res.send('x');
    });
    mayAnswer.happens();
    expect([(await post('a')).status, (await post('b')).status, (await post('a')).status, state.runs]).toEqual([
      200, 200, 422, 2,
    ]);
  });
});

it('a store that answers when the lease is over is refused with what to do, and the handler does not run', async () => {
  const leaseDuration = 40;
  const stall = async (): Promise<void> => {
    const begun = performance.now();
    while (performance.now() - begun < leaseDuration) await new Promise(setImmediate);
  };
  const log = new EventLog();
  let runs = 0;
  const guard = idempotency({ leases: new HookedLeases({}, { acquire: stall }), leaseDuration, onEvent: log.onEvent });
  const { url } = await serve(express().post('/', guard, (_req, res) => void res.json(++runs)));
  expect([(await send(url, { headers: keyed('k') })).status, runs]).toEqual([503, 0]);
  expect(String((await log.first('store-failed')).error)).toBe(
    'StoreUnavailable: acquire() of the lease store answered after the lease of 40 ms had expired. Use a longer leaseDuration.',
  );
});
