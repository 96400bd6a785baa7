import { setTimeout as pause } from 'node:timers/promises';
import KeyvRedis, { createClient } from '@keyv/redis';
import express from 'express';
import Keyv from 'keyv';
import { Pool } from 'pg';
import {
  bindRequest,
  dto,
  idempotency,
  int,
  memoryLeases,
  postgresStore,
  queryParam,
  redisLeases,
  type IdempotencyOptions,
  type LeaseStore,
} from '../../../lib';
import { EventLog } from '../../support/event-log';
import { send, type WireResponse } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { anyPostgres } from '../../support/servers/postgres-server';
import { anyRedis } from '../../support/servers/redis-server';
import { signal } from '../../support/signal';
import { BookingService, book } from './booking-service';

/** Milliseconds of a lease that ends while a spec waits, and of one that does not. */
const [SHORT, LONG] = [300, 60_000];

/** Where leases and responses are. */
type Place = Required<Pick<IdempotencyOptions, 'store' | 'leases'>>;

let redis: Awaited<ReturnType<typeof anyRedis>>;
let postgres: Awaited<ReturnType<typeof anyPostgres>>;
let pool: Pool;
let keys = 0;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  [redis, postgres] = await Promise.all([anyRedis(), anyPostgres()]);
  pool = new Pool({ connectionString: postgres.url }).on('error', () => undefined);
  const client = await createClient({ url: redis.url }).connect();
  const keyv = new Keyv(new KeyvRedis(redis.url));
  const store = postgresStore(pool);
  places.Redis = { store: keyv, leases: redisLeases(client, { prefix: `unknown ${process.pid}::` }) };
  places.PostgreSQL = { store, leases: store.leases };
  ends.push(
    () => client.destroy(),
    () => keyv.disconnect(),
    () => pool.end(),
  );
});
afterAll(async () => {
  for (const end of ends) await end();
  await Promise.all([redis.stop(), postgres.stop()]);
});

const places = {} as Record<'Redis' | 'PostgreSQL', Place>;

/** A process of the service. One that is cut off cannot renew its lease any more, as if it had died. */
async function shopOn(
  { store, leases }: Place,
  { isCutOff = false, ...options }: IdempotencyOptions & { readonly isCutOff?: boolean } = {},
) {
  const log = new EventLog();
  const away = { renew: { value: () => Promise.reject(new Error('cut off')) } };
  const seen: LeaseStore = isCutOff ? (Object.create(leases, away) as LeaseStore) : leases;
  const guard = idempotency({
    whenOwnerDies: 'refuse',
    leaseDuration: isCutOff ? SHORT : LONG,
    scope: () => 'all',
    // All processes are one service.
    ignoreHost: true,
    onEvent: log.onEvent,
    ...options,
    store,
    leases: seen,
  });
  const state = { runs: 0, cacheKey: '', started: signal(), mayEnd: signal(), guard, log };
  const app = express().post('/', guard, bindRequest(dto({ n: queryParam(int, { default: 0 }) })), async (req, res) => {
    state.runs++;
    state.cacheKey = req.idempotency.cacheKey;
    state.started.happens();
    if (isCutOff) await state.mayEnd.happened;
    if (req.get('X-Then') === 'throw') throw Object.assign(new Error('no'), { status: 418 });
    if (req.get('X-Then') === 'forget') req.idempotency.forget();
    res.status(201).json({ run: state.runs });
  });
  const { url } = await serve(app);
  return {
    ...state,
    get runs() {
      return state.runs;
    },
    get cacheKey() {
      return state.cacheKey;
    },
    post: (key: string, headers = {}, path = ''): Promise<WireResponse> =>
      send(`${url}/${path}`, { headers: keyed(key, headers) }),
  };
}

/** A key whose process has died while its handler ran, and another process. */
async function deadOwner(place: Place, options: IdempotencyOptions = {}) {
  const key = `unknown ${process.pid} ${keys++}`;
  const owner = await shopOn(place, { isCutOff: true, ...options });
  const answer = owner.post(key).catch(() => 'cut off');
  await owner.started.happened;
  const other = await shopOn(place, options);
  ends.push(owner.mayEnd.happens);
  return { key, owner, answer, other, post: () => other.post(key) };
}

const codeOf = ({ status, text }: WireResponse): string | number =>
  status === 409 ? (JSON.parse(text) as { type: string }).type.replace('urn:bindonce:', '') : status;

describe.each(['Redis', 'PostgreSQL'] as const)("on %s, with whenOwnerDies: 'refuse'", name => {
  it('a key whose process has died is refused, and never runs again by itself', async () => {
    const { other, post } = await deadOwner(places[name]);
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
    expect([codeOf(await post()), codeOf(await post())]).toEqual(['outcome-unknown', 'outcome-unknown']);
    expect(other.runs).toBe(0);
    expect(other.log.kinds).toEqual(['outcome-unknown', 'outcome-unknown', 'outcome-unknown']);
  });

  it('it runs when someone has found out that it did not run', async () => {
    const { owner, other, post } = await deadOwner(places[name]);
    expect(await other.guard.resolve(owner.cacheKey, 'did-not-run')).toBe(false);
    expect(codeOf(await post())).toBe('outcome-unknown');
    expect(await other.guard.purge(owner.cacheKey)).toBe(false);
    expect(await other.guard.resolve(owner.cacheKey, 'did-not-run')).toBe(true);
    expect(await other.guard.resolve(owner.cacheKey, 'did-not-run')).toBe(false);
    expect([(await post()).text, (await post()).text, other.runs]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it('it never runs when someone has found out that it ran', async () => {
    const { owner, answer, other, post } = await deadOwner(places[name]);
    await post();
    expect(await other.guard.resolve(owner.cacheKey, 'ran')).toBe(true);
    expect(await other.guard.resolve(owner.cacheKey, 'did-not-run')).toBe(false);
    expect(codeOf(await post())).toBe('response-unavailable');
    owner.mayEnd.happens();
    await answer;
    expect([codeOf(await post()), other.runs]).toEqual(['response-unavailable', 0]);
  });

  it('an owner that comes back after all completes its run', async () => {
    const { owner, answer, post } = await deadOwner(places[name]);
    expect(codeOf(await post())).toBe('outcome-unknown');
    owner.mayEnd.happens();
    expect(await answer).toMatchObject({ status: 201, text: '{"run":1}' });
    expect(await post()).toMatchObject({ status: 201, text: '{"run":1}' });
  });

  it('what is unknown is forgotten cacheDuration after the handler began', async () => {
    const { other, post } = await deadOwner(places[name], { cacheDuration: 3 * SHORT });
    expect(codeOf(await post())).toBe('outcome-unknown');
    await pause(3 * SHORT);
    expect([(await post()).status, other.runs]).toEqual([201, 1]);
  });

  it('other values under its key are still another request', async () => {
    const { key, other, post } = await deadOwner(places[name], { whenKeyReused: 'reject' });
    expect(codeOf(await post())).toBe('outcome-unknown');
    expect((await other.post(key, {}, '?n=1')).status).toBe(422);
  });

  it('forget() and a refused request leave the key free, and an error is stored, as ever', async () => {
    const shop = await shopOn(places[name]);
    const key = `free ${process.pid} ${keys++}`;
    expect((await shop.post(key, { 'X-Then': 'forget' })).text).toBe('{"run":1}');
    expect((await shop.post(key, { 'X-Then': 'throw' })).status).toBe(418);
    expect([(await shop.post(key)).status, shop.runs]).toEqual([418, 2]);
    expect((await shop.post(`${key} bound`, {}, '?n=x')).status).toBe(400);
    expect((await shop.post(`${key} bound`, {}, '?n=x')).status).toBe(400);
    expect(shop.runs).toBe(2);
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

describe('leases that cannot settle are refused', () => {
  const { acquire, renew, complete, release } = memoryLeases();
  const own = { acquire, renew, complete, release };
  it.each<[string, IdempotencyOptions]>([
    ['in memory', {}],
    ['in the memory of a Keyv', { store: new Keyv() }],
    ['memoryLeases()', { leases: memoryLeases() }],
    ['of the application', { leases: own }],
  ])('%s', (_where, options) => {
    expect(() => idempotency({ ...options, whenOwnerDies: 'refuse' })).toThrow(
      new TypeError(
        "idempotency: whenOwnerDies 'refuse' needs leases with a method settle(), as a Keyv on Redis or Valkey, " +
          'postgresStore(pool) and sqliteStore(path) have. Leases in memory end with their process.',
      ),
    );
  });
});

describe('resolve()', () => {
  it('finds nothing unknown in memory', async () => {
    expect(await idempotency().resolve('k', 'ran')).toBe(false);
  });

  it.each<[unknown, unknown, string]>([
    [undefined, 'ran', 'idempotency: resolve() needs the text of req.idempotency.cacheKey, not undefined'],
    ['k', 'done', `idempotency: resolve() needs 'ran' or 'did-not-run', not "done"`],
  ])('refuses %p and %p', async (cacheKey, outcome, message) => {
    await expect(idempotency().resolve(cacheKey as string, outcome as 'ran')).rejects.toThrow(new TypeError(message));
  });
});
