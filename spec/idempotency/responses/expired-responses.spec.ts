import Keyv from 'keyv';
import type { RecordedResponse } from '../../../lib';
import type { ResponseStore } from '../../../lib/idempotency/responses/response-store';

/** Loads the module under fake timers: its sweeps take the timers that it finds then. */
function responsesIn(keyv: Keyv): ResponseStore {
  const made: ResponseStore[] = [];
  jest.isolateModules(() => {
    const path = '../../../lib/idempotency/responses/response-store';
    made.push(
      jest.requireActual<typeof import('../../../lib/idempotency/responses/response-store')>(path).responsesIn(keyv),
    );
  });
  const [responses] = made;
  if (!responses) throw new Error('There are no responses');
  return responses;
}

const RESPONSE: RecordedResponse = { status: 200, headers: [], body: Buffer.from('x'), trailers: [] };

/** As Keyv 6 wraps a Map. */
class Wrapped {
  readonly opts = {};
  readonly store = new Map<string, unknown>();
  on(): this {
    return this;
  }
  get(key: string): unknown {
    return this.store.get(key);
  }
  set(key: string, value: unknown): boolean {
    this.store.set(key, value);
    return true;
  }
  delete(key: string): boolean {
    return this.store.delete(key);
  }
  clear(): void {
    this.store.clear();
  }
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const sizeOf = ({ store }: Keyv): number => {
  const { store: inner = store } = store as { store?: unknown };
  return (inner as Map<string, unknown>).size;
};

describe.each<[string, () => Keyv]>([
  ['new Keyv()', () => new Keyv()],
  ['a Map of your own', () => new Keyv({ store: new Map(), namespace: 'shop' })],
  ['a Map in a wrapper', () => new Keyv({ store: new Wrapped() })],
])('responses in %s', (_title, make) => {
  it('are removed when their time is over, without being asked for, and then nothing ticks', async () => {
    const keyv = make();
    const responses = responsesIn(keyv);
    for (let index = 0; index < 1_200; index++) await responses.write(`short ${index}`, 't', RESPONSE, 20_000);
    await responses.write('long', 't', RESPONSE, 50_000);
    await keyv.set('of the application', 'x');
    expect(sizeOf(keyv)).toBe(1_202);
    await jest.advanceTimersByTimeAsync(30_001);
    // They are removed in several turns.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    expect(sizeOf(keyv)).toBe(2);
    expect(await responses.read('long', 't', { method: 'POST', maxBytes: 1_000 }, 2_000)).toBeDefined();
    await jest.advanceTimersByTimeAsync(30_001);
    expect(sizeOf(keyv)).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that were removed leave nothing that ticks', async () => {
    const responses = responsesIn(make());
    await responses.write('k', 't', RESPONSE, 60_000);
    await responses.remove('k', 't');
    await jest.advanceTimersByTimeAsync(30_001);
    expect(jest.getTimerCount()).toBe(0);
  });
});
