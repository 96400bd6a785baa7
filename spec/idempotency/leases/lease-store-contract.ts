import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseStore } from '../../../lib';
import { leaseWatchContract } from './lease-watch-contract';

/** What a suite runs on: two views of the same data, as two processes have them (the same object where there is one process). */
export interface LeaseStoreUnderTest {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
  close(): unknown;
}

const LONG = 60_000;
/** Milliseconds: long enough for a step to be carried out meanwhile, short enough to be waited for. */
const SHORT = 60;

/**
 * The facts that every lease store has to hold. They need no clock: what runs out in a short time is waited for by asking,
 * and what must not run out has a long time.
 * @param options `watches` is false for a store without the optional `watch`.
 */
export function leaseStoreContract(
  name: string,
  make: () => LeaseStoreUnderTest | Promise<LeaseStoreUnderTest>,
  { watches = true }: { readonly watches?: boolean } = {},
): void {
  describe(`${name} as a lease store`, () => {
    let stores: LeaseStoreUnderTest;
    let one: LeaseStore;
    let other: LeaseStore;
    let count = 0;
    let key: string;

    beforeAll(async () => {
      stores = await make();
      ({ one, other } = stores);
    });
    afterAll(() => stores.close());
    beforeEach(() => {
      key = `${Date.now()}-${count++}-${Math.random()}`;
    });

    /** Acquires for `token` as soon as what is there has run out. */
    const acquireLater = async (token: string, ms = LONG): Promise<void> => {
      while ((await other.acquire(key, token, ms)).kind !== 'acquired') await pause(5);
    };
    const holder = async (): Promise<unknown> => {
      const seen = await other.acquire(key, 'who has it', LONG);
      if (seen.kind !== 'acquired') return `${seen.kind} ${seen.token}`;
      await other.release(key, 'who has it');
      return 'nobody';
    };

    describe('acquire', () => {
      it('takes a lease that nobody has', async () => {
        expect(await one.acquire(key, 'a', LONG)).toEqual({ kind: 'acquired' });
        expect(await holder()).toBe('running a');
      });

      it('tells others who has it, and for how long', async () => {
        await one.acquire(key, 'a', LONG);
        const seen = await other.acquire(key, 'b', 1);
        expect(seen).toEqual({ kind: 'running', token: 'a', msLeft: expect.any(Number) as number });
        expect(seen.kind === 'running' && seen.msLeft > LONG / 2 && seen.msLeft <= LONG).toBe(true);
      });

      it('is acquired for the token that has it already, for the new time', async () => {
        await one.acquire(key, 'a', SHORT);
        expect(await other.acquire(key, 'a', LONG)).toEqual({ kind: 'acquired' });
        const seen = await other.acquire(key, 'b', 1);
        expect(seen.kind === 'running' && seen.msLeft > LONG / 2).toBe(true);
      });

      it('is done for everybody, the owner too, once the run is completed', async () => {
        await one.acquire(key, 'a', LONG);
        await one.complete(key, 'a', LONG);
        expect(await other.acquire(key, 'b', LONG)).toEqual({ kind: 'done', token: 'a' });
        expect(await one.acquire(key, 'a', LONG)).toEqual({ kind: 'done', token: 'a' });
      });

      it.each([20, 200])('gives one of %d concurrent callers the lease', async callers => {
        const answers = await Promise.all(
          Array.from({ length: callers }, async (_, index) =>
            (index % 2 ? one : other).acquire(key, `token ${index}`, LONG),
          ),
        );
        expect(answers.filter(({ kind }) => kind === 'acquired')).toHaveLength(1);
        expect(new Set(answers.flatMap(answer => (answer.kind === 'running' ? [answer.token] : []))).size).toBe(1);
      });

      it('takes a lease that has run out', async () => {
        await one.acquire(key, 'a', SHORT);
        await acquireLater('b');
        expect(await holder()).toBe('running b');
      });

      it('takes a lease whose record has run out', async () => {
        await one.acquire(key, 'a', LONG);
        await one.complete(key, 'a', SHORT);
        await acquireLater('b');
        expect(await holder()).toBe('running b');
      });

      it.each(['', ' ', '\0', '__proto__', 'a:b', '{a}', 'ü🦉', '*', 'r:a', 'x'.repeat(2_000)])(
        'keeps the key %p apart from others',
        async odd => {
          await one.acquire(`${key}${odd}`, 'a', LONG);
          expect(await other.acquire(`${key}${odd}`, 'b', LONG)).toMatchObject({ kind: 'running', token: 'a' });
          expect(await other.acquire(`${key}${odd}.`, 'b', LONG)).toEqual({ kind: 'acquired' });
        },
      );

      it.each(['', 'r:a', 'd:a', 'a.b', 'ü', 'done', 'any.0'])('keeps the token %p as it is', async token => {
        await one.acquire(key, token, LONG);
        expect(await other.acquire(key, `${token}x`, LONG)).toMatchObject({ kind: 'running', token });
        expect(await one.complete(key, token, LONG)).toBe(true);
        expect(await other.acquire(key, `${token}x`, LONG)).toEqual({ kind: 'done', token });
      });
    });

    describe('renew', () => {
      it('extends the lease of the token', async () => {
        await one.acquire(key, 'a', 1_000);
        expect(await one.renew(key, 'a', LONG)).toBe(true);
        const seen = await other.acquire(key, 'b', 1);
        expect(seen.kind === 'running' && seen.msLeft > LONG / 2).toBe(true);
      });

      it('is false for another token, and changes nothing', async () => {
        await one.acquire(key, 'a', LONG);
        expect(await other.renew(key, 'b', 1)).toBe(false);
        expect(await holder()).toBe('running a');
      });

      it('is false where there is no lease, and makes none', async () => {
        expect(await one.renew(key, 'a', LONG)).toBe(false);
        expect(await holder()).toBe('nobody');
      });

      it.each<[string, (token: string) => unknown]>([
        ['released', token => one.release(key, token)],
        ['completed', token => one.complete(key, token, LONG)],
      ])('is false once the lease was %s', async (_title, end) => {
        await one.acquire(key, 'a', LONG);
        await end('a');
        expect(await one.renew(key, 'a', LONG)).toBe(false);
      });

      it('is false once the lease has run out and another has it', async () => {
        await one.acquire(key, 'a', SHORT);
        await acquireLater('b');
        expect(await one.renew(key, 'a', LONG)).toBe(false);
        expect(await holder()).toBe('running b');
      });
    });

    describe('complete', () => {
      it('may be repeated', async () => {
        await one.acquire(key, 'a', LONG);
        expect([await one.complete(key, 'a', LONG), await other.complete(key, 'a', LONG)]).toEqual([true, true]);
        expect(await holder()).toBe('done a');
      });

      it('is false for another token, and changes nothing', async () => {
        await one.acquire(key, 'a', LONG);
        expect(await other.complete(key, 'b', LONG)).toBe(false);
        expect(await holder()).toBe('running a');
      });

      it('is false once another run is done, and changes nothing', async () => {
        await one.acquire(key, 'a', LONG);
        await one.complete(key, 'a', LONG);
        expect(await other.complete(key, 'b', LONG)).toBe(false);
        expect(await holder()).toBe('done a');
      });

      it('is still accepted when the lease has run out and nobody has taken it since', async () => {
        await one.acquire(key, 'a', SHORT);
        await acquireLater('b');
        await other.release(key, 'b');
        expect(await one.complete(key, 'a', LONG)).toBe(true);
        expect(await holder()).toBe('done a');
      });
    });

    describe('release', () => {
      it.each<[string, () => unknown]>([
        ['lease', () => undefined],
        ['record', () => one.complete(key, 'a', LONG)],
      ])('gives up the %s of the token', async (_title, before) => {
        await one.acquire(key, 'a', LONG);
        await before();
        expect(await one.release(key, 'a')).toBe(true);
        expect(await holder()).toBe('nobody');
      });

      it('is false for another token, and changes nothing', async () => {
        await one.acquire(key, 'a', LONG);
        expect(await other.release(key, 'b')).toBe(false);
        expect(await holder()).toBe('running a');
      });

      it('may be repeated, and does no harm to whoever came after', async () => {
        await one.acquire(key, 'a', LONG);
        await one.release(key, 'a');
        await other.acquire(key, 'b', LONG);
        await one.release(key, 'a');
        expect(await holder()).toBe('running b');
      });
    });

    describe.each<[string, () => unknown]>([
      ['is running', () => undefined],
      ['is done', () => other.complete(key, 'b', LONG)],
      [
        'has given up and a third is running',
        async () => {
          await other.release(key, 'b');
          await other.acquire(key, 'c', LONG);
        },
      ],
    ])('an owner that comes back after its lease ran out, while the next %s,', (_title, next) => {
      it.each<[string, () => boolean | Promise<boolean>]>([
        ['completes', () => one.complete(key, 'a', LONG)],
        ['releases', () => one.release(key, 'a')],
        ['renews', () => one.renew(key, 'a', LONG)],
      ])('%s without effect', async (_step, late) => {
        await one.acquire(key, 'a', SHORT);
        await acquireLater('b');
        await next();
        const before = await holder();
        expect(await late()).toBe(false);
        expect(await holder()).toBe(before);
      });
    });

    if (watches) leaseWatchContract(() => ({ one, other, key }));
  });
}
