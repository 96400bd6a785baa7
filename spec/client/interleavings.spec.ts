import type * as Client from '../../lib/client';
import { inPage, loadClient, Locks, Store, withBrowser, type Page } from './browser';

/** Searches random interleavings of tabs, storage, locks and server, in simulated time: a found fault names its seed. */
const SEEDS = 150;
/** Times that the customer tries, at most, until a purchase is answered. */
const ROUNDS = 8;

// Tabs with storages of their own may take 100 seconds on a slow machine.
jest.setTimeout(600_000);

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

/** Someone who buys: with all tabs, or with one if each has a storage of its own. */
interface Customer {
  readonly store: Store;
  /** When the answer of a charge first reached a tab. */
  delivered: number;
}

interface Tab extends Page {
  readonly customer: Customer;
  pay: Client.IdempotentFetch;
}

/** How the tabs of one browser store their keys. */
interface Setting {
  /** How many operations of the storage fail. */
  readonly failures?: number;
  /** Milliseconds until a tab sees what another one has stored. */
  readonly lateness?: number;
  readonly hasOwnStorages?: boolean;
  /** How many operations of the storage take longer than a call; there is one tab then, which is not reloaded. */
  readonly delays?: number;
}

const never = (): Promise<never> => new Promise(() => undefined);

/** A browser with tabs, and a server that runs each key once. */
class World {
  /** When each key ran. */
  readonly charges = new Map<string, number>();
  /** Who sent each key. */
  readonly senders = new Map<string, Set<Customer>>();
  readonly locks = new Locks();
  readonly tabs: Tab[] = [];
  /** When true, nothing fails any more. */
  isCalm = false;
  readonly lateness: number;
  /** A tab may look for a second for a key that another one has in a storage of its own. */
  readonly deadline: number;

  constructor(
    readonly random: () => number,
    private readonly setting: Setting,
  ) {
    this.lateness = setting.lateness ?? 0;
    this.deadline = setting.hasOwnStorages ? 2_500 : 500;
    const tabs = setting.delays ? 1 : 1 + this.below(3);
    const one = this.newCustomer();
    while (this.tabs.length < tabs) this.tabs.push(this.openTab(setting.hasOwnStorages ? this.newCustomer() : one));
  }

  /** Whether the storage never fails. */
  get isReliable(): boolean {
    return !this.setting.failures;
  }

  get customers(): Set<Customer> {
    return new Set(this.tabs.map(({ customer }) => customer));
  }

  /** The longest that an operation of the storage takes, in milliseconds, if it is late. */
  get longestDelay(): number {
    return this.setting.delays ? 3 * this.deadline : 0;
  }

  /** Whether a page may be reloaded. What a storage does late is unknown to the next page. */
  get hasReloads(): boolean {
    return !this.setting.delays;
  }

  /** The tabs of those who have no answer yet. */
  get waiting(): Tab[] {
    return this.tabs.filter(({ customer }) => customer.delivered === Infinity);
  }

  private newCustomer(): Customer {
    return { store: new Store(this.lateness), delivered: Infinity };
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      setTimeout(resolve, ms);
    });
  }

  openTab(customer: Customer): Tab {
    const tab = { isOpen: true, customer } as Tab;
    const { idempotentFetch } = loadClient();
    const times = { deadline: this.deadline, attemptTimeout: 120, baseDelay: 20, maxDelay: 60 };
    tab.pay = idempotentFetch({ ...times, storage: this.storageOf(tab), fetch: this.serverOf(tab) });
    return tab;
  }

  reload(tab: Tab): void {
    tab.isOpen = false;
    this.locks.close(tab);
    this.tabs[this.tabs.indexOf(tab)] = this.openTab(tab.customer);
  }

  private storageOf(tab: Tab): Client.KeyStorage {
    // What shows writes late is `localStorage`, whose methods return at once.
    const slow = this.setting.lateness ? 0 : ([1, 5, 30][this.below(3)] ?? 1);
    const step = async <T>(work: () => T): Promise<T> => {
      const isFailing = !this.isCalm && this.random() < (this.setting.failures ?? 0);
      await this.wait(this.below(slow + 1) + this.delay());
      if (!tab.isOpen) return never();
      if (isFailing) throw new Error('The storage fails');
      const result = work();
      await this.wait(this.below(slow + 1) + this.delay());
      return tab.isOpen ? result : never();
    };
    const seen = tab.customer.store.of(tab);
    return {
      getItem: name => step(() => seen.getItem(name) as string | null),
      setItem: (name, value) => step(() => seen.setItem(name, value)),
      removeItem: name => step(() => seen.removeItem(name)),
    };
  }

  /** Before or after what an operation of the storage does. */
  private delay(): number {
    const { delays } = this.setting;
    return delays && !this.isCalm && this.random() < delays ? this.below(this.longestDelay) : 0;
  }

  private serverOf(tab: Tab): typeof fetch {
    return async (_url, init) => {
      const key = new Headers(init?.headers).get('Idempotency-Key') ?? '';
      const fate = this.isCalm ? 1 : this.random();
      this.senders.set(key, (this.senders.get(key) ?? new Set()).add(tab.customer));
      await this.wait(this.below(10));
      const isReplay = this.charges.has(key);
      const hasRun = fate > 0.3;
      if (hasRun && !isReplay) this.charges.set(key, performance.now());
      await this.wait(this.below(80));
      if (!tab.isOpen) return never();
      const retryAfter = { 'Retry-After': this.random() < 0.7 ? '3600' : '0' };
      if (fate < 0.1 || (fate > 0.45 && fate < 0.55)) throw new TypeError('The connection broke');
      if (fate < 0.2) return new Response('{}', { status: 401 });
      // Of a gateway, whether the server behind it has run the request or not.
      if (fate > 0.25 && fate < 0.35) return new Response('{}', { status: 500 });
      if (fate < 0.45) return new Response('{}', { status: 503, headers: retryAfter });
      if (fate < 0.6) return never();
      tab.customer.delivered = Math.min(tab.customer.delivered, performance.now());
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
    inPage
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
  for (let round = 0; round < ROUNDS && world.waiting.length > 0; round++) {
    for (let clicksLeft = 1 + world.below(3); clicksLeft > 0; clicksLeft--) {
      const { waiting } = world;
      if (waiting.length === 0) break;
      clickIn(waiting[world.below(waiting.length)] as Tab);
      await pass(world.below(3) * world.below(20));
    }
    const [tab] = world.waiting;
    if (tab && world.hasReloads && world.random() < 0.25) {
      // A page that is closed takes its marks with it, so that nothing tells the others what they do not see yet.
      await pass(world.lateness);
      world.reload(tab);
    }
    await pass(world.deadline + 100);
  }
  for (const { tab, begun, ended = Infinity } of clicks)
    if (tab.isOpen && ended - begun > world.deadline + 20) faults.push(`A call took ${ended - begun} ms`);
  // A click after the answer is another purchase.
  for (const customer of world.customers) {
    const ran = [...world.charges].filter(
      ([key, at]) => at < customer.delivered && world.senders.get(key)?.has(customer),
    );
    if (ran.length > 1) faults.push(`It ran with the keys ${ran.map(([key]) => key).join(', ')}`);
  }
  // In the tab that has the answer, the next click is the next purchase; in the others, if the storage tells them.
  world.isCalm = true;
  await pass(world.longestDelay);
  const finished = new Set([...answered].filter(([{ isOpen }]) => isOpen).map(([, key]) => key));
  for (const tab of world.tabs) {
    const own = answered.get(tab);
    if (own === undefined && !world.isReliable) continue;
    clickIn(tab);
    await pass(world.deadline + 100);
    const key = answered.get(tab) ?? '';
    if (key === own || (world.isReliable && finished.has(key)))
      faults.push(`The next purchase got the answer of ${key}`);
  }
  for (const [key, { size }] of world.senders) if (size > 1) faults.push(`${size} customers have sent ${key}`);
  return faults;
}

describe('a customer who clicks until there is an answer pays once, whatever happens', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 0, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    // It runs on other threads, which do not know of the simulated time.
    jest.spyOn(crypto.subtle, 'digest').mockResolvedValue(new ArrayBuffer(32));
  });

  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it.each<[string, Setting]>([
    ['with a storage that works', {}],
    ['with a storage that fails now and then', { failures: 0.05 }],
    ['with a storage that fails often', { failures: 0.3 }],
    ['with a storage in which each tab sees late what others have written', { lateness: 200 }],
    ['with a storage that shows writes late and fails now and then', { lateness: 200, failures: 0.05 }],
    ['with a storage of each tab', { hasOwnStorages: true }],
    ['with a storage that is late now and then', { delays: 0.05 }],
    ['with a storage that is late often', { delays: 0.3 }],
  ])('%s', async (_title, setting) => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const random = randomOf(seed);
      jest.spyOn(Math, 'random').mockImplementation(random);
      const world = new World(random, setting);
      const faults = await withBrowser(world.locks, () => purchase(world));
      found.push(...faults.map(fault => `seed ${seed}: ${fault}`));
      jest.clearAllTimers();
    }
    expect(found).toEqual([]);
  });
});
