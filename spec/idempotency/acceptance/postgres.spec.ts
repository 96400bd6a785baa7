import { randomUUID } from 'node:crypto';
import { KeyvPostgres } from '@keyv/postgres';
import express from 'express';
import { Keyv } from 'keyv';
import { Pool } from 'pg';
import { idempotency, postgresStore, type IdempotencyOptions } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { PostgresServer } from '../../support/servers/postgres-server';
import { EventLog } from '../../support/event-log';
import { serve } from '../../support/serve';
import { signal, type Signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const STORE_TIMEOUT = 500;
/** Half a second above the time-out of the store, and more on a busy machine; a hang would be far longer. */
const BOUND = STORE_TIMEOUT + 10_000;

let postgres: PostgresServer;
const pools: Pool[] = [];

beforeAll(async () => {
  postgres = await PostgresServer.start();
});
afterEach(() => Promise.all(pools.splice(0).map(pool => pool.end())));
afterAll(() => postgres.stop());

/** One application of a service: an Express app with its own pool, as a process of its own would have. */
class Shop {
  readonly log = new EventLog();
  readonly pool = new Pool({ connectionString: postgres.url });
  runs = 0;
  private url = '';
  private gate: { readonly started: Signal; readonly open: Signal } | undefined;

  static async open(options: IdempotencyOptions = {}): Promise<Shop> {
    const shop = new Shop();
    const { pool, log } = shop;
    pools.push(pool);
    // pg ends the process when a server goes away and nobody listens.
    pool.on('error', () => undefined);
    const guard = idempotency({
      store: postgresStore(pool),
      scope: () => 'all',
      onEvent: log.onEvent,
      ...options,
    });
    const app = express();
    app.use((req, _res, next) => {
      // All shops are one service.
      req.headers.host = 'orders';
      next();
    });
    app.post('/orders', guard, async (_req, res) => {
      shop.runs++;
      shop.gate?.started.happens();
      await shop.gate?.open.happened;
      res.status(201).json({ order: randomUUID() });
    });
    ({ url: shop.url } = await serve(app));
    return shop;
  }

  order(key: string): Promise<WireResponse> {
    return send(`${this.url}/orders`, { headers: keyed(key) });
  }

  /** Sends until the answer is no 503: what a client does that has been told to retry. */
  async persist(key: string): Promise<WireResponse> {
    for (;;) {
      const answer = await this.order(key);
      if (answer.status !== 503) return answer;
    }
  }

  /** The next handlers start, and wait. */
  hold(): { readonly started: Signal; readonly open: Signal } {
    return (this.gate = { started: signal(), open: signal() });
  }
}

const twoShops = (options?: IdempotencyOptions): Promise<[Shop, Shop]> =>
  Promise.all([Shop.open(options), Shop.open(options)]);

describe('two shops on one PostgreSQL', () => {
  it.each([20, 200])('run %i concurrent duplicates once and give all the same answer', async count => {
    const shops = await twoShops();
    const gates = shops.map(shop => shop.hold());
    const key = randomUUID();
    const answers = Array.from({ length: count }, (_, index) => (shops[index % 2] as Shop).order(key));
    await Promise.race(gates.map(({ started }) => started.happened));
    for (const { open } of gates) open.happens();
    const bodies = (await Promise.all(answers)).map(({ status, text }) => `${status} ${text}`);
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('201');
    expect(shops.map(({ runs }) => runs).sort()).toEqual([0, 1]);
    expect(shops.flatMap(({ log }) => log.kinds).filter(kind => kind === 'executed')).toHaveLength(1);
  });

  it('give a waiting duplicate, which polls, the answer of the other shop', async () => {
    const [a, b] = await twoShops();
    const key = randomUUID();
    const gate = a.hold();
    const first = a.order(key);
    await gate.started.happened;
    const polled = jest.spyOn(b.pool, 'query');
    const waiting = b.order(key);
    while (polled.mock.calls.length < 3) await new Promise(setImmediate);
    gate.open.happens();
    expect((await waiting).text).toBe((await first).text);
  });

  it('answer 503 in time while the server is down, run nothing, and replay what they had answered before when it is back', async () => {
    const [a, b] = await twoShops({ storeTimeout: STORE_TIMEOUT });
    const before = randomUUID();
    const first = await a.order(before);
    expect((await b.order(before)).text).toBe(first.text);
    await postgres.kill();
    const key = randomUUID();
    const begun = performance.now();
    const refused = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? a : b).order(key)));
    expect(performance.now() - begun).toBeLessThan(BOUND);
    for (const { status, headers } of refused) expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(a.runs + b.runs).toBe(1);
    await postgres.up();
    const [one, other] = await Promise.all([a.persist(key), b.persist(key)]);
    expect([one.status, one.text]).toEqual([201, other.text]);
    expect((await b.order(before)).text).toBe(first.text);
    expect(a.runs + b.runs).toBe(2);
  });

  it('answer 503 in time while the server hangs, and give back what it acquires late', async () => {
    const [a, b] = await twoShops({ storeTimeout: STORE_TIMEOUT });
    expect((await a.order(randomUUID())).status).toBe(201);
    await postgres.pause();
    const key = randomUUID();
    const begun = performance.now();
    const { status } = await a.order(key);
    expect(performance.now() - begun).toBeLessThan(BOUND);
    postgres.resume();
    expect(status).toBe(503);
    const [one, other] = await Promise.all([a.persist(key), b.persist(key)]);
    expect([one.status, one.text]).toEqual([201, other.text]);
    expect(a.runs + b.runs).toBe(2);
  });
});

it('a Keyv on PostgreSQL is refused with what to write', () => {
  expect(() => idempotency({ store: new Keyv(new KeyvPostgres(postgres.url)) })).toThrow(
    new TypeError(
      'idempotency: store is a Keyv on KeyvPostgres, on which bindonce cannot hold leases. ' +
        'Use postgresStore(pool) in its place, with a Pool of pg, or pass `leases: postgresLeases(pool)`.',
    ),
  );
});
