import { once } from 'node:events';
import type { RequestHandler } from 'express';
import { Keyv } from 'keyv';
import type { IdempotencyOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { guarded, seen, type Keyed, type Run } from '../support/guarded';
import { HookedLeases } from '../support/hooked-leases';
import { signal } from '../support/signal';

/** An application whose handler stays in flight until it is told to answer. */
async function inFlight(
  options: IdempotencyOptions = {},
  answer: Run = (_req, res, _next, run) => res.status(201).json({ run }),
) {
  const [running, mayAnswer] = [signal(), signal()];
  let arrived = 0;
  const counts: RequestHandler = (_req, _res, next) => next(void arrived++);
  const act: Run = async (...given) => {
    running.happens();
    await mayAnswer.happened;
    answer(...given);
  };
  const { post, server, log, runs } = await guarded(options, act, { before: [counts] });
  const type = { 'Content-Type': 'text/plain' };
  const all = (...bodies: string[]) => Promise.all(bodies.map(body => post({ body, headers: type })));
  /** Sends all at once, and lets the handler answer when they have been received. */
  const together = async (...bodies: string[]): Promise<string[]> => {
    const answers = all(...bodies);
    while (arrived < bodies.length) await once(server, 'request');
    await new Promise(setImmediate);
    mayAnswer.happens();
    return (await answers).map(({ status, text }) => `${status} ${text}`);
  };
  const send = async (body = '') => (await all(body))[0] as Awaited<ReturnType<typeof post>>;
  return { log, runs, running: running.happened, mayAnswer: () => mayAnswer.happens(), post: send, together };
}

describe('concurrent duplicates', () => {
  it('share the failure of the first', async () => {
    const { runs, together } = await inFlight({}, (_req, res) => res.status(500).send('broken'));
    expect([await together('', '', ''), runs()]).toEqual([Array(3).fill('500 broken'), 1]);
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
    expect(JSON.parse(text)).toMatchObject({
      type: 'urn:bindonce:request-in-flight',
      title: 'A request with this idempotency key is in flight',
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
    const { runs, together } = await inFlight({ whenKeyReused: 'reject' });
    const answers = await together(...Array.from({ length: 200 }, (_, index) => (index % 2 ? 'a' : 'b')));
    expect([runs(), ...['201', '422'].map(each => answers.filter(one => one.startsWith(each)).length)]).toEqual([
      1, 100, 100,
    ]);
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

const down = () => Promise.reject(new Error('ECONNREFUSED'));
const DETAIL = expect.stringMatching(/^\S.*\.$/) as string;
it.each<[code: string, status: number, title: RegExp, options: IdempotencyOptions, ...Keyed[]]>([
  ['key-missing', 400, /key/, {}, { key: '' }],
  ['key-repeated', 400, /key/, {}, { headers: { 'Idempotency-Key': ['a', 'b'] } }],
  ['key-malformed', 400, /key/, { keyPattern: /^\d+$/ }, {}],
  ['key-reused', 422, /key/, { whenKeyReused: 'reject' }, { body: 'a' }, { body: 'b' }],
  ['response-unavailable', 409, /response/i, { maxResponseBytes: 9 }, {}, {}],
  ['store-unavailable', 503, /store/, { leases: new HookedLeases({ acquire: down }), store: new Keyv() }, {}],
  ['body-too-large', 413, /large/, { maxRequestBytes: 3 }, { body: 'four' }],
])(
  '%s is a problem in JSON, with type, title, status, detail and instance',
  async (code, status, title, options, ...sent) => {
    for (const [, version] of expressVersions) {
      const { post } = await guarded(options, (_req, res) => res.send('x'.repeat(100)), { version });
      const answers = [];
      for (const request of sent) answers.push(await post({ path: '/orders?secret=1', ...request }));
      const { headers, text } = answers.at(-1) as (typeof answers)[number];
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      const told = { type: `urn:bindonce:${code}`, title: expect.stringMatching(title) as string, status };
      expect(JSON.parse(text)).toEqual({ ...told, detail: DETAIL, instance: '/orders' });
    }
  },
);

it('the answer to HEAD has no content, also when it is a problem', async () => {
  const { post } = await guarded();
  expect(seen(await post({ method: 'HEAD', key: '' }))).toBe('400 ');
});
