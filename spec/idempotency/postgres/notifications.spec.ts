import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { Client, Pool, type PoolClient } from 'pg';
import { postgresLeases } from '../../../lib';
import { watchForChange } from '../../../lib/idempotency/leases/change-watch';
import { PostgresServer } from '../../support/servers/postgres-server';
import { signal } from '../../support/signal';

const LONG = 60_000;

let postgres: PostgresServer;
let pool: Pool;
let count = 0;
let key: string;

beforeAll(async () => {
  postgres = await PostgresServer.start();
});
beforeEach(() => {
  // Without an 'error' listener: what a connection that listens goes through must not end the process.
  pool = new Pool({ connectionString: postgres.url, max: 4 });
  key = `key ${count++}`;
});
afterEach(() => pool.end());
afterAll(() => postgres.stop());

/** Process ids of the connections that listen. */
async function listening(): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN bindonce_leases'",
  );
  return rows.map(({ pid }) => pid);
}

/** Another process, which ends runs. */
async function elsewhere<T>(act: (leases: ReturnType<typeof postgresLeases>, client: Pool) => Promise<T>): Promise<T> {
  const other = new Pool({ connectionString: postgres.url });
  try {
    return await act(postgresLeases(other), other);
  } finally {
    await other.end();
  }
}

describe('waiters on postgresLeases()', () => {
  it('do not leave the AsyncLocalStorage of a request with the connection that listens', async () => {
    const request = new AsyncLocalStorage<string>();
    const takenIn: unknown[] = [];
    const take = pool.connect.bind(pool);
    jest.spyOn(pool, 'connect').mockImplementation(((...given: Parameters<typeof take>) => {
      takenIn.push(request.getStore());
      take(...given);
    }) as typeof pool.connect);
    const stop = await request.run('a request', () => postgresLeases(pool).watch?.(key, () => undefined));
    stop?.();
    // The statements after it may open other connections, as any query of the application may.
    expect(takenIn.slice(0, 1)).toEqual([undefined]);
  });

  it('take one connection out of the pool while there are any, and give it back', async () => {
    const leases = [postgresLeases(pool), postgresLeases(pool, { table: 'other_leases' })];
    for (const store of leases) await store.acquire(key, 'a', LONG);
    expect(await listening()).toEqual([]);
    const stops = await Promise.all([0, 1, 0, 1].map(store => leases[store]?.watch?.(key, () => undefined)));
    const pids = await listening();
    expect(pids).toHaveLength(1);
    expect(pool.totalCount - pool.idleCount).toBe(1);
    for (const stop of stops.slice(1)) stop?.();
    expect(await listening()).toEqual(pids);
    const givenBack = signal();
    pool.once('release', () => {
      givenBack.happens();
    });
    stops[0]?.();
    await givenBack.happened;
    expect(pool.idleCount).toBe(pool.totalCount);
    expect(await listening()).toEqual([]);
    const { rows } = await pool.query('SELECT pg_listening_channels()');
    expect(rows).toEqual([]);
  });

  it('leave nothing of theirs behind on a connection that listens again and again', async () => {
    const clients = new Set<PoolClient>();
    pool.on('connect', client => {
      clients.add(client);
    });
    const leases = postgresLeases(pool);
    for (let times = 0; times < 5; times++) {
      const stop = await leases.watch?.(key, () => undefined);
      const givenBack = signal();
      pool.once('release', () => {
        givenBack.happens();
      });
      stop?.();
      await givenBack.happened;
    }
    expect(clients.size).toBe(2);
    for (const client of clients)
      expect(['notification', 'end', 'error'].map(event => client.listenerCount(event))).toEqual([0, 0, 1]);
  });

  it('ask again when their connection breaks, and are notified once a waiter listens again', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire(key, 'a', LONG);
    const changes = [signal(), signal()] as const;
    let told = 0;
    const stop = await leases.watch?.(key, () => {
      changes[told++]?.happens();
    });
    const [pid] = await listening();
    await elsewhere((_leases, other) => other.query('SELECT pg_terminate_backend($1)', [pid]));
    await changes[0].happened;
    const later = signal();
    const stopLater = await leases.watch?.(key, () => {
      later.happens();
    });
    expect(await listening()).toHaveLength(1);
    await elsewhere(other => other.complete(key, 'a', LONG) as Promise<boolean>);
    await Promise.all([changes[1].happened, later.happened]);
    for (const leave of [stop, stopLater]) leave?.();
  });

  it('are refused while the server is down, and told by event when it is back, with those who have waited all the time', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire(key, 'a', LONG);
    pool.on('error', () => undefined);
    const [late, early] = [signal(), signal()];
    let isUp = true;
    const stopEarly = await leases.watch?.(key, () => {
      if (isUp) early.happens();
    });
    isUp = false;
    await postgres.kill();
    while (pool.totalCount > 0) await new Promise(setImmediate);
    await expect(leases.watch?.(key, () => undefined)).rejects.toThrow('ECONNREFUSED');
    await postgres.up();
    isUp = true;
    const stopLate = await leases.watch?.(key, () => {
      late.happens();
    });
    await elsewhere(other => other.complete(key, 'a', LONG) as Promise<boolean>);
    await Promise.all([early.happened, late.happened]);
    for (const stop of [stopEarly, stopLate]) stop?.();
  });

  it('survive that the server dies while they begin or leave', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire(key, 'a', LONG);
    pool.on('error', () => undefined);
    for (const step of ['begin', 'leave']) {
      const stop = step === 'leave' ? await leases.watch?.(key, () => undefined) : undefined;
      await postgres.pause();
      const beginning = step === 'begin' ? leases.watch?.(key, () => undefined).catch(() => 'refused') : undefined;
      stop?.();
      await postgres.kill();
      if (beginning) expect(await beginning).toBe('refused');
      while (pool.totalCount > 0) await new Promise(setImmediate);
      await postgres.up();
    }
  });

  it('take no connection out of a pool of one: it is the one that the run is completed on', async () => {
    const single = new Pool({ connectionString: postgres.url, max: 1 });
    const leases = postgresLeases(single);
    await leases.acquire(key, 'a', LONG);
    await expect(leases.watch?.(key, () => undefined)).rejects.toThrow('no connection to spare');
    expect(await leases.complete(key, 'a', LONG)).toBe(true);
    await single.end();
  });

  it('stand in line where the application has all connections of the pool, and listen when one is given back', async () => {
    const leases = postgresLeases(pool);
    await leases.acquire(key, 'a', LONG);
    const taken = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
    const change = signal();
    const watching = leases.watch?.(key, () => {
      change.happens();
    });
    for (const client of taken) client.release();
    const stop = await watching;
    await elsewhere(other => other.complete(key, 'a', LONG) as Promise<boolean>);
    await change.happened;
    stop?.();
  });

  it('never miss the end of a run, whether it comes before they listen, meanwhile or after', async () => {
    const leases = postgresLeases(pool);
    let slow = 0;
    await elsewhere(async other => {
      for (let round = 0; round < 100; round++) {
        const one = `${key} ${round}`;
        await other.acquire(one, 'a', LONG);
        expect((await leases.acquire(one, 'b', LONG)).kind).toBe('running');
        const begun = performance.now();
        const watch = watchForChange(one, leases, () => false);
        const spin = async (turns: number): Promise<void> => {
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        };
        const ended = spin(round).then(() => (round % 2 ? other.complete(one, 'a', LONG) : other.release(one, 'a')));
        do await watch.next(LONG, LONG);
        while ((await leases.acquire(one, 'b', LONG)).kind === 'running');
        watch.stop();
        await ended;
        if (performance.now() - begun > 900) slow++;
      }
    });
    // A waiter without a notification asks after a second. A busy machine may stand still for so long, but seldom.
    expect(slow).toBeLessThan(10);
  });
});

it('the end of a run is announced only if a request was told to wait for it', async () => {
  const leases = postgresLeases(pool);
  const listener = new Client(postgres.url);
  await listener.connect();
  await listener.query('LISTEN bindonce_leases');
  const announced: unknown[] = [];
  const last = signal();
  const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex');
  listener.on('notification', ({ payload }) => {
    announced.push(payload);
    if (payload === hashOf('last')) last.happens();
  });
  for (const [name, isAwaited, end] of [
    ['alone', false, 'complete'],
    ['told', true, 'complete'],
    ['given up alone', false, 'release'],
    ['last', true, 'release'],
  ] as const) {
    await leases.acquire(name, 'a', LONG);
    if (isAwaited) await leases.acquire(name, 'b', LONG);
    if (end === 'complete') await leases.complete(name, 'a', LONG);
    else await leases.release(name, 'a');
  }
  await last.happened;
  expect(announced).toEqual([hashOf('told'), hashOf('last')]);
  await listener.end();
});
