import type { Request, RequestHandler, Response } from 'express';
import { Keyv } from 'keyv';
import { Pool, type PoolClient } from 'pg';
import {
  fromPg,
  memoryLeases,
  postgresStore,
  problemDetails,
  type IdempotencyOptions,
  type TransactionAdapter,
} from '../../../lib';
import { guarded } from '../../support/guarded';
import type { WireResponse } from '../../support/listen';
import { visible, visibleReplay } from '../../support/replays';
import { anyPostgres } from '../../support/servers/postgres-server';
import { signal } from '../../support/signal';

type Tx = PoolClient;
type Adapter = TransactionAdapter<Tx>;
type Work = (tx: Tx, req: Request, res: Response) => unknown;
type Options = IdempotencyOptions & { readonly adapter?: Adapter };

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

const front: RequestHandler = (_req, res, next) => next(void res.set('X-Front', '1'));
const respond = (res: Response, id: unknown): unknown => res.status(201).cookie('cart', 'empty').json({ id });

/** A service whose handler orders in a transaction, as its `work` says, under a key of its own. */
async function shopOn(work: Work = () => undefined, { adapter = fromPg(pool), ...options }: Options = {}) {
  const key = `order ${keys++} ${Date.now()}`;
  const errors: unknown[] = [];
  const act = async (req: Request, res: Response): Promise<void> => {
    const ordering = req.idempotency.commitWith(adapter, async tx => {
      const insert = 'INSERT INTO orders (key) VALUES ($1) RETURNING id';
      const { rows } = await tx.query<{ id: number }>(insert, [req.get('X-Order')]);
      await work(tx, req, res);
      if (!res.writableEnded && res.statusCode === 200) respond(res, rows[0]?.id);
    });
    await ordering.catch((error: unknown) => {
      errors.push(error);
      throw error;
    });
  };
  const store = postgresStore(pool);
  const { app, post, log } = await guarded({ store, scope: () => 'all', ...options }, act, { before: [front] });
  app.use(problemDetails());
  const order = (name = key): Promise<WireResponse> => post({ key: name, headers: { Host: 'shop', 'X-Order': name } });
  const orders = async (name = key) => (await pool.query('SELECT FROM orders WHERE key = $1', [name])).rows.length;
  return { key, log, errors, order, orders };
}

/** A work that the first of its runs does; the others do nothing. */
function atFirst(work: Work): Work {
  let runs = 0;
  return (...given) => (runs++ === 0 ? work(...given) : undefined);
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

describe.each(['read committed', 'repeatable read', 'serializable'] as const)('commitWith() at %s', isolationLevel => {
  const at = (options: Options = {}): Options => ({ adapter: fromPg(pool, { isolationLevel }), ...options });

  it('commits an order with its response, which is sent then, and replayed', async () => {
    const { order, orders, log } = await shopOn(undefined, at());
    const first = await order();
    expect(first.status).toBe(201);
    expect(first.lines).toContain('X-Front: 1');
    expect(visibleReplay(await order())).toEqual(visible(first));
    expect([await orders(), log.kinds]).toEqual([1, ['executed', 'replayed']]);
  });

  it('gives twenty duplicates of two services one order and one answer', async () => {
    const shops = [await shopOn(undefined, at()), await shopOn(undefined, at())] as const;
    const { key, orders } = shops[0];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, turn) => shops[turn % 2 ? 0 : 1].order(key)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await orders()).toBe(1);
  });

  it('renews the lease while the work goes on, which harms no transaction', async () => {
    const work = jest.fn((tx: Tx) => tx.query('SELECT pg_sleep(1)'));
    const { order, orders, log } = await shopOn(work, at({ leaseDuration: 300 }));
    const [first, second] = await Promise.all([order(), order()]);
    expect([first.text, await orders(), work.mock.calls.length]).toEqual([second.text, 1, 1]);
    expect(log.kinds.sort()).toEqual(['executed', 'waited']);
  });

  it('lets one of two commit where a run stalls past its lease: the connection of the other is closed', async () => {
    const [started, mayGoOn] = [signal(), signal()];
    const stall = (): Promise<void> => {
      started.happens();
      return mayGoOn.happened;
    };
    const stalled = await shopOn(stall, at());
    const other = await shopOn(undefined, at());
    const late = stalled.order().catch((error: unknown) => error);
    await started.happened;
    await pool.query('UPDATE bindonce_1_leases SET expires = now()');
    const { status, text } = await other.order(stalled.key);
    mayGoOn.happens();
    expect(await late).toMatchObject({ code: 'ECONNRESET' });
    expect([status, await stalled.orders(), (await stalled.order()).text]).toEqual([201, 1, text]);
    expect(stalled.log.kinds).toEqual(['lease-lost', 'not-stored', 'replayed']);
  });
});

describe('commitWith()', () => {
  it('sends a response as it is without it, and nothing before the end of the work', async () => {
    const answer = (res: Response): unknown => res.writeHead(202, 'Fine', { 'X-Own': 'yes' }).end('grün');
    const sent: boolean[] = [];
    const { order } = await shopOn((_tx, _req, res) => void (answer(res), sent.push(res.headersSent)), {
      addHeaderToResponse: false,
    });
    const bare = await guarded({}, (_req, res) => answer(res), { before: [front] });
    const first = visible(await order());
    expect([first, sent]).toEqual([visible(await bare.post({ path: '/bare' })), [false]]);
    expect(visibleReplay(await order())).toEqual(first);
  });

  it('drafts the head until the end, also after writeHead', async () => {
    const { order } = await shopOn((_tx, _req, res) =>
      res.writeHead(202, { 'X-Own': 'yes' }).cookie('seen', '1').end(),
    );
    for (const { lines } of [await order(), await order()])
      expect(lines).toEqual(expect.arrayContaining(['X-Own: yes', 'Set-Cookie: seen=1; Path=/']));
  });

  const long = 'x'.repeat(100);
  const keeping: Options = { shouldCache: ({ headers }) => !headers.some(([name]) => name === 'X-Keep') };
  const killed: Work = tx =>
    pool.query('SELECT pg_terminate_backend($1)', [(tx as unknown as { processID: number }).processID]);
  it.each<[string, Work, RegExp, IdempotencyOptions?]>([
    ['throws', () => Promise.reject(new Error('No tea.')), /^No tea\.$/],
    ['has a statement that fails', tx => tx.query('SELECT 1 / 0'), /division by zero/],
    ['flushes its head', (_tx, _req, res) => res.status(201).flushHeaders(), /was written in pieces/],
    ['streams its response', (_tx, _req, res) => res.status(201).write('{}'), /was written in pieces/],
    [
      'answers too much',
      (_tx, _req, res) => res.send(long),
      /is longer than maxResponseBytes/,
      { maxResponseBytes: 99 },
    ],
    ['does not answer', (_tx, _req, res) => res.status(201), /its response has not ended/, { storeTimeout: 300 }],
    [
      'answers what shouldCache does not keep',
      (_tx, _req, res) => res.set('X-Keep', 'no'),
      /shouldCache says/,
      keeping,
    ],
    ['loses its connection', killed, /terminat|connection error/],
  ])(
    'rolls back a work that %s, keeps no answer, and lets the next attempt run',
    async (_title, ...[work, message, options]) => {
      const { order, orders, errors, log } = await shopOn(atFirst(work), options);
      expect((await order()).status).toBe(500);
      expect(errors).toMatchObject([{ message: expect.stringMatching(message) as string }]);
      expect([await orders(), (await order()).status]).toEqual([0, 201]);
      expect([await orders(), log.kinds]).toEqual([1, ['forgotten', 'executed']]);
    },
  );

  it('sends, and does not store, what a work answers that calls forget(), and rolls it back', async () => {
    const none = atFirst((_tx, req, res) => {
      req.idempotency.forget();
      res.status(422).json({ tea: 'none' });
    });
    const { order, orders } = await shopOn(none);
    expect(await order()).toMatchObject({ status: 422, text: '{"tea":"none"}' });
    expect([await orders(), (await order()).status, await orders()]).toEqual([0, 201, 1]);
  });

  /** Two transactions that each read what the other writes: PostgreSQL rolls one of them back. */
  async function skew(tx: Tx): Promise<void> {
    await tx.query("SELECT count FROM stock WHERE item = 'tea'");
    await pool.query(
      `BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count FROM stock WHERE item = 'cup';
       UPDATE stock SET count = count + 1 WHERE item = 'tea'; COMMIT`,
    );
    await tx.query("UPDATE stock SET count = count + 1 WHERE item = 'cup'");
  }

  it.each([
    [2, 201, 1],
    [3, 500, 0],
  ])('runs a work again that PostgreSQL rolls back: %i times in a row, answers %i', async (times, status, placed) => {
    let runs = 0;
    const adapter = fromPg(pool, { isolationLevel: 'serializable' });
    const work: Work = (tx, _req, res) => {
      res.append('X-Try', '1');
      return runs++ < times ? skew(tx) : undefined;
    };
    const { order, orders, errors } = await shopOn(work, { adapter });
    const answer = await order();
    expect([answer.status, runs, await orders(), errors.length]).toEqual([status, 3, placed, 1 - placed]);
    // What a work that was rolled back has set is gone.
    expect(answer.headers['x-try']).toBe(placed ? '1' : undefined);
  });

  it('sends the response where COMMIT was carried out and its answer was lost', async () => {
    const adapter = withCommit(async client => {
      await client.query('COMMIT');
      throw new Error('Connection terminated unexpectedly');
    });
    const { order, orders, log } = await shopOn(undefined, { adapter });
    const first = await order();
    expect([first.status, await orders(), (await order()).text]).toEqual([201, 1, first.text]);
    expect(log.kinds).toEqual(['executed', 'replayed']);
  });

  it('answers 503, and frees the key, where COMMIT was not carried out', async () => {
    let commits = 0;
    const adapter = withCommit(async client => {
      if (commits++ > 0) return client.query('COMMIT');
      throw new Error('Connection terminated unexpectedly');
    });
    const { order, orders, errors } = await shopOn(undefined, { adapter });
    expect(await order()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    const cause = { message: 'Connection terminated unexpectedly' };
    expect(errors[0]).toMatchObject({ code: 'store-unavailable', cause });
    expect([(await order()).status, await orders()]).toEqual([201, 1]);
  });

  it('answers 503, and keeps the key, while nobody knows whether COMMIT will be carried out', async () => {
    const mayCommit = signal();
    let committed: Promise<unknown> | undefined;
    const adapter: Adapter = {
      ...fromPg(pool),
      async transaction(work) {
        const client = await pool.connect();
        await client.query('BEGIN');
        await work(client);
        committed = mayCommit.happened.then(() => client.query('COMMIT')).then(() => client.release());
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const { order, orders } = await shopOn(undefined, { adapter, storeTimeout: 500, whenInFlight: 'reject' });
    expect([(await order()).status, (await order()).status]).toEqual([503, 409]);
    mayCommit.happens();
    await committed;
    expect([(await order()).status, await orders()]).toEqual([201, 1]);
  });

  it.each<[string, IdempotencyOptions]>([
    ['without a key, where that is let through', { whenKeyMissing: 'run' }],
    ['whose method is not guarded', { methods: ['PUT'] }],
  ])('runs a plain transaction for a request %s', async (_title, options) => {
    const wereSent: boolean[] = [];
    const work = atFirst((_tx, _req, res) => {
      res.status(201).json({});
      wereSent.push(res.headersSent);
      throw new Error('No tea.');
    });
    const { order, orders, errors } = await shopOn(work, options);
    const send = () => (options.methods ? order() : order(''));
    const count = () => (options.methods ? orders() : orders(''));
    const before = await count();
    expect(await send()).toMatchObject({ status: 500 });
    expect([await count(), (await send()).status, await count()]).toEqual([before, 201, before + 1]);
    expect([wereSent, errors]).toEqual([[false], [new Error('No tea.')]]);
  });
});

it('derivedKey() is the same in each attempt at a request, and another for each name, key and caller', async () => {
  const options: IdempotencyOptions = { scope: req => req.get('X-Customer'), shouldCache: () => false };
  const act = (req: Request, res: Response) => res.send(req.idempotency.derivedKey(String(req.get('X-Name'))));
  const { post } = await guarded(options, act);
  const found: string[] = [];
  for (const asked of ['a ann charge', 'a ann charge', 'a ann refund', 'b ann charge', 'a ben charge']) {
    const [key = '', customer = '', name = ''] = asked.split(' ');
    found.push((await post({ key, headers: { 'X-Customer': customer, 'X-Name': name } })).text);
  }
  expect(found[0]).toMatch(/^[\w-]{43}$/);
  expect([found[1], new Set(found).size]).toEqual([found[0], 4]);
});

describe('before BEGIN, commitWith() refuses', () => {
  const commit = ({ idempotency: own }: Request, work = (): Promise<unknown> => Promise.resolve()) =>
    own.commitWith(fromPg(pool), work);
  it.each<[string, (req: Request, res: Response) => unknown, RegExp, IdempotencyOptions?]>([
    ['a store that has no transactions', req => commit(req), /needs a store that commits/, { store: new Keyv() }],
    ['leases that are not its own', req => commit(req), /needs a store that commits/, { leases: memoryLeases() }],
    ['a response that has begun', (req, res) => (res.writeHead(200), commit(req)), /before the response begins/],
    ['to be called inside itself', req => commit(req, () => commit(req)), /twice for one request, or inside itself/],
  ])('%s', async (_title, ...[act, message, options]) => {
    let error: unknown;
    const recording = async (req: Request, res: Response): Promise<void> => {
      error = await Promise.resolve(act(req, res)).catch((reason: unknown) => reason);
      res.end();
    };
    const { post } = await guarded({ store: postgresStore(pool), whenStoreFails: 'run', ...options }, recording);
    await post({ key: `refused ${keys++} ${Date.now()}` });
    expect(error).toMatchObject({ message: expect.stringMatching(message) as string });
  });
});
