import KeyvRedis, { createClient } from '@keyv/redis';
import Keyv from 'keyv';
import { Pool } from 'pg';
import { idempotency, memoryLeases, postgresStore, redisLeases, type IdempotencyOptions } from '../../../lib';
import { guarded, type Run } from '../../support/guarded';
import { HookedLeases } from '../../support/hooked-leases';
import type { WireResponse } from '../../support/listen';
import { anyPostgres } from '../../support/servers/postgres-server';
import { anyRedis } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';
import { BookingService, book } from './booking-service';

/** Milliseconds of a lease that ends while a spec waits, and of one that does not. */
const [SHORT, LONG] = [300, 60_000];

/** Where leases and responses are. */
type Place = Required<Pick<IdempotencyOptions, 'store' | 'leases'>>;

const places = {} as Record<'Redis' | 'PostgreSQL', Place>;
let redis: Awaited<ReturnType<typeof anyRedis>>;
let keys = 0;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const [anyR, anyP] = await Promise.all([anyRedis(), anyPostgres()]);
  redis = anyR;
  const pool = new Pool({ connectionString: anyP.url }).on('error', () => undefined);
  const client = await createClient({ url: redis.url }).connect();
  const keyv = new Keyv(new KeyvRedis(redis.url));
  const store = postgresStore(pool);
  places.Redis = { store: keyv, leases: redisLeases(client, { prefix: `unknown ${process.pid}::` }) };
  places.PostgreSQL = { store, leases: store.leases };
  ends.push(
    () => client.destroy(),
    () => keyv.disconnect(),
    () => pool.end(),
    () => Promise.all([anyR.stop(), anyP.stop()]),
  );
});
afterAll(async () => {
  for (const end of ends) await end();
});

/** A process of the service. One that is cut off cannot renew its lease any more, as if it had died. */
async function shopOn({ store, leases }: Place, options: IdempotencyOptions = {}, isCutOff = false) {
  const state = { cacheKey: '', started: signal(), mayEnd: signal() };
  const away = { renew: { value: () => Promise.reject(new Error('cut off')) } };
  const act: Run = async (req, res, _next, run) => {
    state.cacheKey = req.idempotency.cacheKey;
    state.started.happens();
    if (isCutOff) await state.mayEnd.happened;
    res.status(201).json({ run });
  };
  const served = await guarded(
    {
      whenOwnerDies: 'refuse',
      leaseDuration: isCutOff ? SHORT : LONG,
      scope: () => 'all',
      // All processes are one service.
      ignoreHost: true,
      ...options,
      store,
      leases: isCutOff ? (Object.create(leases, away) as Place['leases']) : leases,
    },
    act,
  );
  return Object.assign(state, served);
}

/** A key whose process has died while its handler ran, and another process. */
async function deadOwner(place: Place, options: IdempotencyOptions = {}) {
  const key = `unknown ${process.pid} ${keys++}`;
  const owner = await shopOn(place, options, true);
  const answer = owner.post({ key }).catch(() => 'cut off');
  await owner.started.happened;
  const other = await shopOn(place, options);
  ends.unshift(owner.mayEnd.happens);
  return { key, owner, answer, ...other, post: (path = '') => other.post({ key, path }) };
}

const codeOf = ({ status, text }: WireResponse): string | number =>
  status === 409 ? (JSON.parse(text) as { type: string }).type.replace('urn:bindonce:', '') : status;

describe.each(['Redis', 'PostgreSQL'] as const)("on %s, with whenOwnerDies: 'refuse'", name => {
  it('a key whose process has died is refused, and never runs again by itself', async () => {
    const { log, post, runs } = await deadOwner(places[name]);
    const waited = await post();
    expect(JSON.parse(waited.text)).toEqual({
      type: 'urn:bindonce:outcome-unknown',
      title: 'It is not known whether the request was executed',
      status: 409,
      detail:
        'The request may have been executed before: what executed it ended without saying what it did. It is not ' +
        'executed again until someone has found out. Do not retry, and do not use another key; look up the result.',
      instance: '/',
    });
    expect(waited.headers['retry-after']).toBeUndefined();
    expect([codeOf(await post()), runs()]).toEqual(['outcome-unknown', 0]);
    expect(log.kinds).toEqual(['outcome-unknown', 'outcome-unknown']);
  });

  it('it runs when someone has found out that it did not run', async () => {
    const { owner, guard, post, runs } = await deadOwner(places[name]);
    const resolve = () => guard.resolve(owner.cacheKey, 'did-not-run');
    expect(await resolve()).toBe(false);
    expect(codeOf(await post())).toBe('outcome-unknown');
    expect([await guard.purge(owner.cacheKey), await resolve(), await resolve()]).toEqual([false, true, false]);
    expect([(await post()).text, (await post()).text, runs()]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it('it never runs when someone has found out that it ran', async () => {
    const { owner, answer, guard, post, runs } = await deadOwner(places[name]);
    await post();
    expect(await guard.resolve(owner.cacheKey, 'ran')).toBe(true);
    expect(await guard.resolve(owner.cacheKey, 'did-not-run')).toBe(false);
    expect(codeOf(await post())).toBe('response-unavailable');
    owner.mayEnd.happens();
    await answer;
    expect([codeOf(await post()), runs()]).toEqual(['response-unavailable', 0]);
  });

  it('an owner that comes back after all completes its run', async () => {
    const { owner, answer, post } = await deadOwner(places[name]);
    expect(codeOf(await post())).toBe('outcome-unknown');
    owner.mayEnd.happens();
    for (const one of [await answer, await post()]) expect(one).toMatchObject({ status: 201, text: '{"run":1}' });
  });

  it('other values under its key are still another request', async () => {
    const { post } = await deadOwner(places[name], { whenKeyReused: 'reject' });
    expect([codeOf(await post()), codeOf(await post('/?n=1'))]).toEqual(['outcome-unknown', 422]);
  });
});

it('a process that is killed leaves its key unknown', async () => {
  const service = new BookingService();
  const start = (leaseDuration: number) =>
    service.start({ STORE_URL: redis.url }, { leaseDuration, whenOwnerDies: 'refuse' });
  const [a, b] = await Promise.all([start(SHORT), start(LONG)]);
  const key = `killed ${process.pid}`;
  const lost = book(a, key, { work: LONG }).catch(() => 'lost');
  await a.printed(/^started/);
  await a.kill();
  expect(await lost).toBe('lost');
  expect([codeOf(await book(b, key)), codeOf(await book(b, key))]).toEqual(['outcome-unknown', 'outcome-unknown']);
  expect(service.runs(key)).toBe(1);
  await service.stop();
});

it.each<[string, IdempotencyOptions]>([
  ['in memory', {}],
  ['in the memory of a Keyv', { store: new Keyv() }],
  ['memoryLeases()', { leases: memoryLeases() }],
  ['of the application', { leases: new HookedLeases() }],
])('leases %s, which cannot settle, are refused, and resolve() finds nothing unknown', async (_where, options) => {
  expect(() => idempotency({ ...options, whenOwnerDies: 'refuse' })).toThrow(
    new TypeError(
      "idempotency: whenOwnerDies 'refuse' needs leases with a method settle(), as a Keyv on Redis or Valkey, " +
        'postgresStore(pool) and sqliteStore(path) have. Leases in memory end with their process.',
    ),
  );
  expect(await idempotency(options).resolve('k', 'ran')).toBe(false);
});

it.each<[unknown, unknown, string]>([
  [undefined, 'ran', 'idempotency: resolve() needs the text of req.idempotency.cacheKey, not undefined'],
  ['k', 'done', `idempotency: resolve() needs 'ran' or 'did-not-run', not "done"`],
  [5, undefined, 'idempotency: purge() needs the text of req.idempotency.cacheKey, not 5'],
  [null, undefined, 'idempotency: purge() needs the text of req.idempotency.cacheKey, not null'],
])('resolve(), or purge(), of %p and %p is a TypeError', async (cacheKey, outcome, message) => {
  const guard = idempotency();
  const refused = outcome ? guard.resolve(cacheKey as string, outcome as 'ran') : guard.purge(cacheKey as string);
  await expect(refused).rejects.toThrow(new TypeError(message));
});
