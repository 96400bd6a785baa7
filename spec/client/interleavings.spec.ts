import { AsyncLocalStorage } from 'node:async_hooks';
import type * as Client from '../../lib/client';

/** Searches random interleavings of tabs, storage, locks and server, in simulated time: a found fault names its seed. */
const SEEDS = 150;
/** Times that the customer tries, at most, until a purchase is answered. */
const ROUNDS = 8;
const DEADLINE = 500;

/** Numbers from 0 up to 1 that are the same for each seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Tab {
  isOpen: boolean;
  pay: Client.IdempotentFetch;
}

/** The tab in which code runs: all tabs have one `navigator` here. */
const inTab = new AsyncLocalStorage<Tab | undefined>();

const never = (): Promise<never> => new Promise(() => undefined);

interface Lock {
  readonly name: string;
  readonly isShared: boolean;
  readonly tab: Tab | undefined;
  readonly begin: () => void;
}

/** The Web Locks of all tabs. */
class Locks {
  private held: Lock[] = [];
  private waiting: Lock[] = [];

  request<T>(name: string, { mode }: { mode: string }, work: () => Promise<T>): Promise<T> {
    const tab = inTab.getStore();
    return new Promise((resolve, reject) => {
      const lock: Lock = {
        name,
        isShared: mode === 'shared',
        tab,
        begin: () => {
          const end = (): void => {
            this.release(one => one === lock);
          };
          inTab.run(tab, work).finally(end).then(resolve, reject);
        },
      };
      this.waiting.push(lock);
      this.grant();
    });
  }

  query(): Promise<{ held: { name: string }[] }> {
    return Promise.resolve({ held: this.held.map(({ name }) => ({ name })) });
  }

  release(isOver: (lock: Lock) => boolean): void {
    this.held = this.held.filter(lock => !isOver(lock));
    this.waiting = this.waiting.filter(lock => !isOver(lock));
    this.grant();
  }

  private grant(): void {
    for (const lock of this.waiting) {
      if (this.held.some(({ name, isShared }) => name === lock.name && !(isShared && lock.isShared))) continue;
      this.waiting = this.waiting.filter(one => one !== lock);
      this.held.push(lock);
      lock.begin();
    }
  }
}

/** A browser with tabs, and a server that runs each key once. */
class World {
  readonly charges = new Map<string, number>();
  /** When the answer of a charge first reached a tab. */
  delivered = Infinity;
  readonly locks = new Locks();
  readonly items = new Map<string, string>();
  readonly tabs: Tab[] = [];
  /** When true, nothing fails any more. */
  isCalm = false;
  /** Whether the storage never fails. */
  readonly isReliable: boolean;

  constructor(
    readonly random: () => number,
    /** How many operations of the storage fail. */
    private readonly storageFailures: number,
  ) {
    this.isReliable = storageFailures === 0;
    const tabs = 1 + this.below(3);
    while (this.tabs.length < tabs) this.tabs.push(this.openTab());
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      setTimeout(resolve, ms);
    });
  }

  openTab(): Tab {
    delete (globalThis as { [name: symbol]: unknown })[Symbol.for('bindonce.client')];
    let client: typeof Client | undefined;
    jest.isolateModules(() => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- each tab has an instance of its own.
      client = require('../../lib/client') as typeof Client;
    });
    const tab = { isOpen: true } as Tab;
    const { idempotentFetch } = client as typeof Client;
    const times = { deadline: DEADLINE, attemptTimeout: 120, baseDelay: 20, maxDelay: 60 };
    tab.pay = idempotentFetch({ ...times, storage: this.storageOf(tab), fetch: this.serverOf(tab) });
    return tab;
  }

  reload(tab: Tab): void {
    tab.isOpen = false;
    this.locks.release(lock => lock.tab === tab);
    this.tabs[this.tabs.indexOf(tab)] = this.openTab();
  }

  private storageOf(tab: Tab): Client.KeyStorage {
    const slow = [1, 5, 30][this.below(3)] ?? 1;
    const step = async <T>(work: () => T): Promise<T> => {
      const isFailing = !this.isCalm && this.random() < this.storageFailures;
      await this.wait(this.below(slow + 1));
      if (!tab.isOpen) return never();
      if (isFailing) throw new Error('The storage fails');
      const result = work();
      await this.wait(this.below(slow + 1));
      return tab.isOpen ? result : never();
    };
    return {
      getItem: name => step(() => this.items.get(name) ?? null),
      setItem: (name, value) => step(() => this.items.set(name, value)),
      removeItem: name => step(() => this.items.delete(name)),
    };
  }

  private serverOf(tab: Tab): typeof fetch {
    return async (_url, init) => {
      const key = new Headers(init?.headers).get('Idempotency-Key') ?? '';
      const fate = this.isCalm ? 1 : this.random();
      await this.wait(this.below(10));
      const isReplay = this.charges.has(key);
      const hasRun = fate > 0.3;
      if (hasRun && !isReplay) this.charges.set(key, performance.now());
      await this.wait(this.below(80));
      if (!tab.isOpen) return never();
      const retryAfter = { 'Retry-After': this.random() < 0.7 ? '3600' : '0' };
      if (fate < 0.1 || (fate > 0.45 && fate < 0.55)) throw new TypeError('The connection broke');
      if (fate < 0.2) return new Response('{}', { status: 401 });
      if (fate < 0.45) return new Response('{}', { status: 503, headers: retryAfter });
      if (fate < 0.6) return never();
      this.delivered = Math.min(this.delivered, performance.now());
      return new Response('{}', { status: 201, headers: isReplay ? { 'Idempotent-Replayed': 'true' } : {} });
    };
  }
}

/** One click, with what became of it. */
interface Click {
  readonly tab: Tab;
  readonly begun: number;
  ended?: number;
}

/** Lets time pass, and everything happen that is due. */
async function pass(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    for (let turn = 0; turn < 4; turn++) await new Promise(resolve => setImmediate(resolve));
    jest.advanceTimersByTime(jest.getTimerCount() > 0 ? 1 : until - performance.now());
  }
}

/** Clicks in tabs until a purchase is answered, and then for another one. @returns what went wrong. */
async function purchase(world: World): Promise<string[]> {
  const faults: string[] = [];
  const clicks: Click[] = [];
  const answered = new Map<Tab, string>();
  const clickIn = (tab: Tab): void => {
    const controller = new AbortController();
    const click: Click = { tab, begun: performance.now() };
    clicks.push(click);
    const init = { method: 'POST', body: 'p', operation: 'cart', signal: controller.signal };
    inTab
      .run(tab, () => tab.pay('http://shop/pay', init))
      .then(({ response, key }) => {
        if (response.status === 201) answered.set(tab, key);
      })
      .catch((error: unknown) => {
        const { code, name } = error as { readonly code?: unknown; readonly name?: string };
        if (code !== 'gave-up' && code !== 'storage-failed' && name !== 'AbortError') faults.push(String(error));
      })
      .finally(() => {
        click.ended = performance.now();
      });
    if (!world.isCalm && world.random() < 0.15)
      setTimeout(() => {
        controller.abort();
      }, world.below(120));
  };
  for (let round = 0; round < ROUNDS && world.delivered === Infinity; round++) {
    for (let clicksLeft = 1 + world.below(3); clicksLeft > 0; clicksLeft--) {
      if (world.delivered < Infinity) break;
      clickIn(world.tabs[world.below(world.tabs.length)] as Tab);
      await pass(world.below(3) * world.below(20));
    }
    const [tab] = world.tabs;
    if (tab && world.random() < 0.25 && world.delivered === Infinity) world.reload(tab);
    await pass(DEADLINE + 100);
  }
  for (const { tab, begun, ended = Infinity } of clicks)
    if (tab.isOpen && ended - begun > DEADLINE + 20) faults.push(`A call took ${ended - begun} ms`);
  // A click after the answer is another purchase.
  const ran = [...world.charges].filter(([, at]) => at < world.delivered);
  if (ran.length > 1) faults.push(`It ran with the keys ${ran.map(([key]) => key).join(', ')}`);
  // In the tab that has the answer, the next click is the next purchase; in the others, if the storage tells them.
  world.isCalm = true;
  const finished = new Set([...answered].filter(([{ isOpen }]) => isOpen).map(([, key]) => key));
  for (const tab of world.tabs) {
    const own = answered.get(tab);
    if (own === undefined && !world.isReliable) continue;
    clickIn(tab);
    await pass(DEADLINE + 100);
    const key = answered.get(tab) ?? '';
    if (key === own || (world.isReliable && finished.has(key)))
      faults.push(`The next purchase got the answer of ${key}`);
  }
  return faults;
}

describe('a customer who clicks until there is an answer pays once, whatever happens', () => {
  const navigatorBefore = Object.getOwnPropertyDescriptor(globalThis, 'navigator');

  beforeEach(() => {
    jest.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    // It runs on other threads, which do not know of the simulated time.
    jest.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
  });

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    if (navigatorBefore) Object.defineProperty(globalThis, 'navigator', navigatorBefore);
    else delete (globalThis as { navigator?: unknown }).navigator;
  });

  it.each([
    ['with a storage that works', 0],
    ['with a storage that fails now and then', 0.05],
    ['with a storage that fails often', 0.3],
  ])('%s', async (_title, failures) => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomOf(seed);
      jest.spyOn(Math, 'random').mockImplementation(random);
      const world = new World(random, failures);
      Object.defineProperty(globalThis, 'navigator', { value: { locks: world.locks }, configurable: true });
      found.push(...(await purchase(world)).map(fault => `seed ${seed}: ${fault}`));
      jest.clearAllTimers();
    }
    expect(found).toEqual([]);
  });
});
