import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/servers/redis-server';
import { TcpProxy } from '../support/servers/tcp-proxy';
import type { StoreKind } from './connection';
import { FLUSHED, serverFaults, storeFaults, type FaultKind, type World } from './faults';
import { ClientProcess, ServerSlot } from './fleet';
import { Journal, now, readJournal, type Entry } from './journal';
import { Random } from './random';
import { watchForStalls, watchStore } from './stalls';
import { startStore, type StoreServer } from './stores';

/** How many processes of servers and of clients a storm has; milliseconds of a lease, for the store, between two faults. */
export const [SERVERS, CLIENTS, LEASE, STORE_TIMEOUT, PAUSE] = [3, 2, 600, 300, 600];

export interface StormOptions {
  readonly seed: number;
  readonly store: StoreKind;
  /** The storm lasts until so many keys were ordered and so many faults inflicted, hang-ups aside. */
  readonly keys: number;
  readonly faults: number;
  /** Milliseconds in which every key has to be answered once the faults have ended. */
  readonly settling: number;
  /** What the servers load as the library. */
  readonly library: string;
  /** True if handlers commit their orders with their response. */
  readonly exactlyOnce: boolean;
  /** True with `whenOwnerDies: 'refuse'`. */
  readonly refuse: boolean;
  /** Names of faults to inflict; all when empty. */
  readonly only: readonly string[];
  readonly progress?: ((line: string) => void) | undefined;
}

/** What a storm leaves behind for the judge. */
export interface StormReport {
  readonly entries: readonly Entry[];
  readonly keys: number;
  readonly hangUps: number;
  readonly seconds: number;
}

/** THE STORM: servers, a store and clients; faults until enough has happened; calm; everything asked once more; a good end. */
export async function storm(options: StormOptions): Promise<StormReport> {
  const begun = now();
  const directory = mkdtempSync(join(tmpdir(), 'bindonce-faults-'));
  const path = join(directory, 'journal');
  const journal = new Journal(path);
  const store = await startStore(options.store);
  const stalled = (ms: number): void => {
    journal.write({ what: 'stalled', ms });
  };
  // The way to the store goes through this process.
  const stopWatching = [watchForStalls(stalled), watchStore(() => store.touch(), stalled)];
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer(options, store, path, journal)));
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) =>
      new ClientProcess({
        ...process.env,
        NAME: `c${index}`,
        SEED: String(options.seed * 1_000 + index),
        PORTS: servers.map(({ port }) => port).join(),
        JOURNAL: path,
        LEASE: String(LEASE),
      }),
  );
  try {
    const settled = Promise.all(clients.map(client => client.says('settled')));
    const verified = Promise.all(clients.map(client => client.says('verified')));
    verified.catch(() => undefined);
    const world: World = {
      servers: servers as [ServerSlot, ...ServerSlot[]],
      store,
      lease: LEASE,
      storeTimeout: STORE_TIMEOUT,
    };
    const lastFlush = await Promise.race([rage(world, clients, journal, options), settled.then(() => 0)]);
    journal.write({ what: 'phase', name: 'calm' });
    for (const client of clients) client.tell('calm');
    if (await within(options.settling, settled)) {
      journal.write({ what: 'phase', name: 'settled' });
      options.progress?.('calm; every key that was not flushed is asked for once more');
      for (const client of clients) client.tell({ verifySince: lastFlush - LONGEST_WAY });
      await verified;
      await Promise.all(servers.map(server => server.leave()));
      if (options.exactlyOnce)
        for (const { key, run } of (await store.orders?.()) ?? []) journal.write({ what: 'row', key, run });
    } else
      journal.write({
        what: 'breach',
        detail: `some keys were not answered within ${options.settling} ms after the last fault`,
      });
    const total = (count: (client: ClientProcess) => number): number =>
      clients.reduce((sum, client) => sum + count(client), 0);
    return {
      entries: await readJournal(path),
      keys: total(client => client.keys),
      hangUps: total(client => client.hangUps),
      seconds: (now() - begun) / 1_000,
    };
  } finally {
    for (const stop of stopWatching) stop();
    for (const client of clients) client.kill();
    await Promise.all(servers.map(server => server.remove()));
    await store.stop();
    journal.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startServer(
  { store: kind, library, exactlyOnce, refuse }: StormOptions,
  store: StoreServer,
  path: string,
  journal: Journal,
): Promise<ServerSlot> {
  const proxy = await TcpProxy.before(store.port);
  return ServerSlot.start(
    await freePort(),
    proxy,
    {
      ...process.env,
      JOURNAL: path,
      STORE_KIND: kind,
      STORE_URL: store.urlThrough(proxy.port),
      LIBRARY: library,
      EXACTLY_ONCE: exactlyOnce ? 'yes' : '',
      OPTIONS: JSON.stringify({
        leaseDuration: LEASE,
        storeTimeout: STORE_TIMEOUT,
        waitTimeout: 4 * LEASE,
        cacheDuration: 3_600_000,
        ...(refuse && { whenOwnerDies: 'refuse' }),
      }),
    },
    journal,
  );
}

/** Milliseconds from the ordering of a thing to its first execution, in a storm on a busy machine. */
const LONGEST_WAY = 120_000;

/** Milliseconds: a process that takes longer to end or to come back has failed. */
const LONGEST_FAULT = 30_000;

/** Two sequences of faults side by side, until enough has happened. @returns when the store was flushed for the last time. */
async function rage(
  world: World,
  clients: readonly ClientProcess[],
  journal: Journal,
  options: StormOptions,
): Promise<number> {
  let inflicted = 0;
  let lastFlush = 0;
  const keys = (): number => clients.reduce((sum, client) => sum + client.keys, 0);
  const isEnough = (): boolean => inflicted >= options.faults && keys() >= options.keys;
  const progress = setInterval(() => {
    options.progress?.(`${keys()} keys, ${inflicted} faults`);
  }, 10_000);
  const sequence = async (kinds: readonly FaultKind[], random: Random): Promise<void> => {
    // What makes the store forget, and not the orders, makes them anew.
    const chosen = kinds.filter(
      ({ kind }) =>
        (options.only.length === 0 || options.only.some(name => kind.includes(name))) &&
        !(options.exactlyOnce && kind === FLUSHED),
    );
    while (!isEnough()) {
      if (chosen.length === 0) await pause(50);
      for (const { kind, inflict } of random.shuffled(chosen)) {
        await pause(random.between(50, PAUSE));
        if (isEnough()) return;
        const at = now();
        const inflicting = inflict(world, random);
        if (!(await within(LONGEST_FAULT, inflicting))) {
          journal.write({ what: 'breach', detail: `there is no end to a fault: ${kind}` });
          return;
        }
        journal.write({ what: 'fault', kind, at, until: now(), ...(await inflicting) });
        if (kind === FLUSHED) lastFlush = now();
        inflicted++;
      }
    }
  };
  try {
    await Promise.all([
      sequence(serverFaults, new Random(options.seed)),
      sequence(storeFaults, new Random(options.seed + 1)),
    ]);
    return lastFlush;
  } finally {
    clearInterval(progress);
  }
}

/** @returns whether it was done in time. */
async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const isDone = await Promise.race([done.then(() => true), pause(ms, false, { signal: over.signal })]);
  over.abort();
  return isDone;
}
