import express, { type Request, type Response } from 'express';
import { Keyv } from 'keyv';
import { Pool, type PoolClient } from 'pg';
import {
  fromPg,
  idempotency,
  memoryLeases,
  postgresStore,
  problemDetails,
  type IdempotencyOptions,
  type TransactionAdapter,
} from '../../../lib';
import { EventLog } from '../../support/event-log';
import { send, type WireResponse } from '../../support/listen';
import { keyed, visible, visibleReplay } from '../../support/replays';
import { serve } from '../../support/serve';
import { anyPostgres } from '../../support/servers/postgres-server';
import { signal } from '../../support/signal';

type Tx = PoolClient;
type Adapter = TransactionAdapter<Tx>;
const levels = ['read committed', 'repeatable read', 'serializable'] as const;

let postgres: Awaited<ReturnType<typeof anyPostgres>>;
let pool: Pool;
let keys = 0;

beforeAll(async () => {
  postgres = await anyPostgres();
  pool = new Pool({ connectionString: postgres.url, max: 30 }).on('error', () => undefined);
  await pool.query(
    `DROP TABLE IF EXISTS orders, stock; CREATE TABLE orders (id serial PRIMARY KEY, key text NOT NULL);
     CREATE TABLE stock (item text PRIMARY KEY, count int NOT NULL); INSERT INTO stock VALUES ('tea', 0), ('cup', 0)`,
  );
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

const respond = (res: Response, id: unknown): unknown =>
  res
    .status(201)
    .cookie('cart', 'empty')
    .set('Location', `/orders/${String(id)}`)
    .json({ id });

/** A service whose handler orders in a transaction, as its `work` says. */
async function shopOn(
  work: (tx: Tx, req: Request, res: Response) => unknown = () => undefined,
  { adapter = fromPg(pool), ...options }: IdempotencyOptions & { readonly adapter?: Adapter } = {},
) {
  const log = new EventLog();
  const errors: Error[] = [];
  const app = express().use((_req, res, next) => {
    res.set('X-Front', '1');
    next();
  });
  const guard = idempotency({ store: postgresStore(pool), scope: () => 'all', onEvent: log.onEvent, ...options });
  app.post('/orders', guard, async (req, res) => {
    try {
      await req.idempotency.commitWith(adapter, async tx => {
        const { rows } = await tx.query('INSERT INTO orders (key) VALUES ($1) RETURNING id', [
          req.get('Idempotency-Key'),
        ]);
        await work(tx, req, res);
        if (!res.writableEnded && res.statusCode === 200) respond(res, (rows[0] as { id: number }).id);
      });
    } catch (error) {
      errors.push(error as Error);
      throw error;
    }
  });
  app.use(problemDetails(), (error: Error, _req: Request, res: Response, next: express.NextFunction) => {
    if (res.headersSent) next(error);
    else res.status(500).json({ error: error.message });
  });
  const { url } = await serve(app);
  const order = (key: string): Promise<WireResponse> =>
    send(`${url}/orders`, { headers: keyed(key, { Host: 'shop' }) });
  return { log, errors, order };
}

const newKey = (): string => `order ${keys++} ${Date.now()}`;

async function ordersOf(key: string): Promise<number> {
  return (await pool.query('SELECT FROM orders WHERE key = $1', [key])).rows.length;
}

/** An adapter that goes another way at COMMIT. */
function withCommit(commit: (client: Tx) => Promise<unknown>): Adapter {
  return {
    ...fromPg(pool),
    async transaction(work) {
      const client = await pool.connect();
      client.on('error', () => undefined);
      await client.query('BEGIN');
      try {
        const result = await work(client);
        await commit(client);
        return result;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

describe.each(levels)('commitWith() at %s', isolationLevel => {
  const adapter = (): Adapter => fromPg(pool, { isolationLevel });

  it('commits an order with its response, which is sent then, and replayed', async () => {
    const { order, log } = await shopOn(undefined, { adapter: adapter() });
    const key = newKey();
    const first = await order(key);
    expect(first.status).toBe(201);
    expect(first.lines).toContain('X-Front: 1');
    expect(visibleReplay(await order(key))).toEqual(visible(first));
    expect([await ordersOf(key), log.kinds]).toEqual([1, ['executed', 'replayed']]);
  });

  it('gives twenty duplicates of two services one order and one answer', async () => {
    const shops = await Promise.all([
      shopOn(undefined, { adapter: adapter() }),
      shopOn(undefined, { adapter: adapter() }),
    ]);
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => shops[at % 2]?.order(key)));
    expect(new Set(answers.map(answer => `${answer?.status} ${answer?.text}`)).size).toBe(1);
    expect(await ordersOf(key)).toBe(1);
  });

  it('renews the lease while the work goes on, which harms no transaction', async () => {
    const work = jest.fn((tx: Tx) => tx.query('SELECT pg_sleep(1)'));
    const { order, log } = await shopOn(work, { adapter: adapter(), leaseDuration: 300 });
    const key = newKey();
    const [first, second] = await Promise.all([order(key), order(key)]);
    expect([first.text, await ordersOf(key), work.mock.calls.length]).toEqual([second.text, 1, 1]);
    expect(log.kinds.sort()).toEqual(['executed', 'waited']);
  });

  it('lets one of two commit where a run stalls past its lease: the connection of the other is closed', async () => {
    const [started, mayGoOn] = [signal(), signal()];
    const stalled = await shopOn(
      () => {
        started.happens();
        return mayGoOn.happened;
      },
      { adapter: adapter() },
    );
    const other = await shopOn(undefined, { adapter: adapter() });
    const key = newKey();
    const late = stalled.order(key).catch((error: unknown) => error);
    await started.happened;
    await pool.query('UPDATE bindonce_1_leases SET expires = now()');
    const { status, text } = await other.order(key);
    mayGoOn.happens();
    expect(await late).toMatchObject({ code: 'ECONNRESET' });
    expect([status, await ordersOf(key)]).toEqual([201, 1]);
    expect((await stalled.order(key)).text).toBe(text);
    expect(stalled.log.kinds).toEqual(['lease-lost', 'not-stored', 'replayed']);
  });
});

describe('commitWith()', () => {
  it.each<[string, (tx: Tx, req: Request, res: Response) => unknown, RegExp, IdempotencyOptions]>([
    ['throws', () => Promise.reject(new Error('No tea.')), /^No tea\.$/, {}],
    ['has a statement that fails', tx => tx.query('SELECT 1 / 0'), /division by zero/, {}],
    ['streams its response', (_tx, _req, res) => res.status(201).write('{}'), /was written in pieces/, {}],
    [
      'answers too much',
      (_tx, _req, res) => res.status(201).send('x'.repeat(2_000)),
      /is longer than maxResponseBytes/,
      { maxResponseBytes: 1_000 },
    ],
    ['does not answer', (_tx, _req, res) => res.status(201), /its response has not ended/, { storeTimeout: 300 }],
    [
      'answers what shouldCache does not keep',
      (_tx, _req, res) => res.set('X-Keep', 'no'),
      /shouldCache says/,
      { shouldCache: ({ headers }) => !headers.some(([name]) => name === 'X-Keep') },
    ],
    [
      'loses its connection',
      tx => pool.query('SELECT pg_terminate_backend($1)', [(tx as unknown as { processID: number }).processID]),
      /terminat|connection error/,
      {},
    ],
  ])(
    'rolls back a work that %s, keeps no answer, and lets the next attempt run',
    async (_title, work, message, options) => {
      let isFirst = true;
      const { order, errors, log } = await shopOn((...given) => {
        const [wasFirst] = [isFirst, (isFirst = false)];
        return wasFirst ? work(...given) : undefined;
      }, options);
      const key = newKey();
      expect((await order(key)).status).toBe(500);
      expect(errors[0]?.message).toMatch(message);
      expect(await ordersOf(key)).toBe(0);
      expect((await order(key)).status).toBe(201);
      expect([await ordersOf(key), log.kinds]).toEqual([1, ['forgotten', 'executed']]);
    },
  );

  it('sends, and does not store, what a work answers that calls forget(), and rolls it back', async () => {
    let isFirst = true;
    const { order } = await shopOn((_tx, req, res) => {
      if (!isFirst) return;
      isFirst = false;
      req.idempotency.forget();
      res.status(422).json({ tea: 'none' });
    });
    const key = newKey();
    expect(await order(key)).toMatchObject({ status: 422, text: '{"tea":"none"}' });
    expect(await ordersOf(key)).toBe(0);
    expect([(await order(key)).status, await ordersOf(key)]).toEqual([201, 1]);
  });

  /** Two transactions that each read what the other writes: PostgreSQL rolls one of them back. */
  async function skew(tx: Tx): Promise<void> {
    await tx.query("SELECT count FROM stock WHERE item = 'tea'");
    const other = await pool.connect();
    await other.query('BEGIN ISOLATION LEVEL SERIALIZABLE');
    await other.query("SELECT count FROM stock WHERE item = 'cup'");
    await other.query("UPDATE stock SET count = count + 1 WHERE item = 'tea'");
    await other.query('COMMIT');
    other.release();
    await tx.query("UPDATE stock SET count = count + 1 WHERE item = 'cup'");
  }

  it.each([
    [2, 201, 1],
    [3, 500, 0],
  ])('runs a work again that PostgreSQL rolls back: %i times in a row, answers %i', async (times, status, orders) => {
    let runs = 0;
    const { order, errors } = await shopOn(tx => (runs++ < times ? skew(tx) : undefined), {
      adapter: fromPg(pool, { isolationLevel: 'serializable' }),
    });
    const key = newKey();
    expect((await order(key)).status).toBe(status);
    expect([runs, await ordersOf(key), errors.length]).toEqual([3, orders, orders ? 0 : 1]);
  });

  it('sends the response where COMMIT was carried out and its answer was lost', async () => {
    const adapter = withCommit(async client => {
      await client.query('COMMIT');
      throw new Error('Connection terminated unexpectedly');
    });
    const { order, log } = await shopOn(undefined, { adapter });
    const key = newKey();
    const first = await order(key);
    expect([first.status, await ordersOf(key)]).toEqual([201, 1]);
    expect([(await order(key)).text, log.kinds]).toEqual([first.text, ['executed', 'replayed']]);
  });

  it('answers 503, and frees the key, where COMMIT was not carried out', async () => {
    let isFirst = true;
    const adapter = withCommit(async client => {
      if (!isFirst) return client.query('COMMIT');
      isFirst = false;
      throw new Error('Connection terminated unexpectedly');
    });
    const { order, errors } = await shopOn(undefined, { adapter });
    const key = newKey();
    expect(await order(key)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(errors[0]).toMatchObject({
      code: 'store-unavailable',
      cause: { message: 'Connection terminated unexpectedly' },
    });
    expect([(await order(key)).status, await ordersOf(key)]).toEqual([201, 1]);
  });

  it('answers 503, and keeps the key, while nobody knows whether COMMIT will be carried out', async () => {
    const [asked, mayCommit] = [signal(), signal()];
    let committed: Promise<unknown> | undefined;
    const adapter: Adapter = {
      ...fromPg(pool),
      async transaction(work) {
        const client = await pool.connect();
        await client.query('BEGIN');
        await work(client);
        asked.happens();
        committed = mayCommit.happened
          .then(() => client.query('COMMIT'))
          .then(() => {
            client.release();
          });
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const { order } = await shopOn(undefined, { adapter, storeTimeout: 500, whenInFlight: 'reject' });
    const key = newKey();
    expect((await order(key)).status).toBe(503);
    expect((await order(key)).status).toBe(409);
    mayCommit.happens();
    await committed;
    expect([(await order(key)).status, await ordersOf(key)]).toEqual([201, 1]);
  });

  it.each<[string, IdempotencyOptions]>([
    ['without a key, where that is let through', { whenKeyMissing: 'run' }],
    ['whose method is not guarded', { methods: ['PUT'] }],
  ])('runs a plain transaction for a request %s', async (_title, options) => {
    const name = newKey();
    let hasFailed = false;
    const app = express();
    app.post('/', idempotency({ store: postgresStore(pool), ...options }), async (req, res) => {
      const { headersSent } = await req.idempotency.commitWith(fromPg(pool), async tx => {
        await tx.query('INSERT INTO orders (key) VALUES ($1)', [name]);
        res.status(201).json({ name });
        if (!hasFailed) throw new Error('No tea.');
        return res;
      });
      expect(headersSent).toBe(false);
    });
    app.use((error: Error, _req: Request, res: Response, next: express.NextFunction) => {
      hasFailed = true;
      if (res.headersSent) next(error);
      else res.status(500).send(error.message);
    });
    const { url } = await serve(app);
    expect(await send(url)).toMatchObject({ status: 500, text: 'No tea.' });
    expect(await ordersOf(name)).toBe(0);
    expect(await send(url)).toMatchObject({ status: 201, text: JSON.stringify({ name }) });
    expect(await ordersOf(name)).toBe(1);
  });
});

it('derivedKey() is the same in each attempt at a request, and another for each name, key and caller', async () => {
  const found: string[] = [];
  const app = express();
  const guard = idempotency({
    store: postgresStore(pool),
    scope: req => req.get('X-Customer'),
    shouldCache: () => false,
  });
  app.post('/', guard, (req, res) => {
    found.push(req.idempotency.derivedKey(String(req.get('X-Name'))));
    res.end();
  });
  const { url } = await serve(app);
  const [a, b] = [newKey(), newKey()];
  for (const [key, customer, name] of [
    [a, 'ann', 'charge'],
    [a, 'ann', 'charge'],
    [a, 'ann', 'refund'],
    [b, 'ann', 'charge'],
    [a, 'ben', 'charge'],
  ] as const)
    await send(url, { headers: keyed(key, { 'X-Customer': customer, 'X-Name': name }) });
  expect(found[0]).toMatch(/^[\w-]{43}$/);
  expect(found[1]).toBe(found[0]);
  expect(new Set(found).size).toBe(4);
});

describe('before BEGIN, commitWith() refuses', () => {
  it.each<[string, (req: Request, res: Response) => unknown, RegExp, IdempotencyOptions]>([
    [
      'a store that has no transactions',
      req => req.idempotency.commitWith(fromPg(pool), () => Promise.resolve()),
      /needs a store that commits/,
      { store: new Keyv() },
    ],
    [
      'leases that are not those of the store',
      req => req.idempotency.commitWith(fromPg(pool), () => Promise.resolve()),
      /needs a store that commits/,
      { leases: memoryLeases() },
    ],
    [
      'a response that has begun',
      (req, res) => {
        res.writeHead(200);
        return req.idempotency.commitWith(fromPg(pool), () => Promise.resolve());
      },
      /before the response begins/,
      {},
    ],
    [
      'to be called inside itself',
      req =>
        req.idempotency.commitWith(fromPg(pool), () =>
          req.idempotency.commitWith(fromPg(pool), () => Promise.resolve()),
        ),
      /twice for one request, or inside itself/,
      {},
    ],
  ])('%s', async (_title, act, message, options) => {
    let error: unknown;
    const app = express();
    app.post('/', idempotency({ store: postgresStore(pool), whenStoreFails: 'run', ...options }), async (req, res) => {
      error = await Promise.resolve(act(req, res)).catch((reason: unknown) => reason);
      res.end();
    });
    await send((await serve(app)).url, { headers: keyed(newKey()) });
    expect(error).toMatchObject({ message: expect.stringMatching(message) as string });
  });
});
