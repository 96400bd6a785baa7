import type { ServerSlot } from './fleet';
import type { Random } from './random';
import type { StoreServer } from './stores';

/** What a storm happens to. */
export interface World {
  readonly servers: readonly [ServerSlot, ...ServerSlot[]];
  readonly store: StoreServer;
  /** Milliseconds. */
  readonly lease: number;
  readonly storeTimeout: number;
}

/** One kind of fault; `inflict` resolves when it is over, with the process that it happened to, if it was one. */
export interface FaultKind {
  readonly kind: string;
  inflict(world: World, random: Random): Promise<{ readonly pid?: number } | undefined>;
}

const onServer = (
  kind: string,
  act: (server: ServerSlot, world: World, random: Random) => Promise<unknown>,
): FaultKind => ({
  kind,
  async inflict(world, random) {
    const server = random.pick(world.servers);
    const { pid } = server;
    await act(server, world, random);
    return { pid };
  },
});

const onStore = (
  kind: string,
  act: (store: StoreServer, world: World, random: Random) => Promise<unknown>,
): FaultKind => ({
  kind,
  async inflict(world, random) {
    await act(world.store, world, random);
    return undefined;
  },
});

/** On the way of one server to the store, or of all of them. */
const onTheWay = (kind: string, act: (server: ServerSlot, ms: number) => Promise<void>): FaultKind => ({
  kind,
  async inflict({ servers, storeTimeout }, random) {
    const ms = random.between(20, 2 * storeTimeout);
    const hit = random.chance(30) ? servers : [random.pick(servers)];
    await Promise.all(hit.map(server => act(server, ms)));
    return hit.length === 1 && hit[0] ? { pid: hit[0].pid } : undefined;
  },
});

/** The faults that happen to processes, one at a time. */
export const serverFaults: readonly FaultKind[] = [
  onServer('server killed (kill -9)', server => server.kill()),
  onServer('server stopped past its lease (SIGSTOP)', (server, { lease }, random) =>
    server.stop(random.between(lease + 50, 2 * lease)),
  ),
  onServer('server told to end (SIGTERM)', server => server.terminate()),
];

/** The faults that happen to the store and to the way there, one at a time, beside those of the processes. */
export const storeFaults: readonly FaultKind[] = [
  onStore('store killed (kill -9)', (store, _world, random) => store.kill(random.between(0, 300))),
  onStore('store restarted', (store, _world, random) => store.restart(random.between(0, 300))),
  onStore('store paused (SIGSTOP)', (store, { storeTimeout }, random) =>
    store.pause(random.between(20, 2 * storeTimeout)),
  ),
  onStore('store flushed', store => store.flush()),
  onTheWay('requests to the store dropped', (server, ms) => server.proxy.dropRequests(ms)),
  onTheWay('answers of the store dropped', (server, ms) => server.proxy.dropAnswers(ms)),
  onTheWay('way to the store stalled', (server, ms) => server.proxy.stall(ms)),
];

export const FLUSHED = 'store flushed';
