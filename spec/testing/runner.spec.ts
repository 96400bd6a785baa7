import { leaseStoreContract, leaseStoreSearch, type LeaseStoreUnderTest, type TestRunner } from '../../lib/testing';
import { memoryLeases } from '../../lib';
import { collect, failuresOf } from './collected-suite';

const make = (): LeaseStoreUnderTest => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
};

describe('a suite that is declared on a runner', () => {
  it.each<[string, unknown, string]>([
    ['none of its functions', {}, 'there is no describe, no it, no after (or afterAll) in options.runner'],
    ['no way to end', { describe, it }, 'there is no after (or afterAll) in options.runner'],
  ])('with %s throws an error that says what to pass', (_title, runner, message) => {
    for (const [owner, declare] of Object.entries({ leaseStoreContract, leaseStoreSearch }))
      expect(() => {
        declare('a store', make as never, { runner: runner as TestRunner });
      }).toThrow(new RegExp(`^${owner}: ${message.replace(/[()]/g, '\\$&')}\\. Pass those of your test runner: `));
  });

  it.each(['after', 'afterAll'] as const)('closes the store in %s, and only if a test has opened it', async name => {
    const close = jest.fn();
    const bodies: (() => Promise<void>)[] = [];
    const ends: (() => Promise<void>)[] = [];
    const runner = {
      describe: (_title: string, body: () => void) => {
        body();
      },
      it: (_title: string, body: () => Promise<void>) => bodies.push(body),
      [name]: (body: () => Promise<void>) => ends.push(body),
    };
    leaseStoreContract('a store', () => ({ ...make(), close }), { runner });
    await ends[0]?.();
    expect(close).not.toHaveBeenCalled();
    await bodies[0]?.();
    await ends[0]?.();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('passes the time limit as jest and vitest take it, and as mocha does', async () => {
    const [asArgument, asMocha] = [jest.fn(), jest.fn()];
    leaseStoreContract('a store', make, {
      timeout: 1_234,
      runner: {
        describe: (_title, body) => {
          body();
        },
        it: (_title, body, ms) => {
          asArgument(ms);
          void body.call({ timeout: asMocha });
        },
        after: () => undefined,
      },
    });
    expect([asArgument, asMocha].map(({ mock }) => mock.lastCall)).toEqual([[1_234], [1_234]]);
  });

  it('opens the store once, and leaves out `watch` where it is told to', async () => {
    const opened = jest.fn(make);
    const declare = (watches: boolean) => (runner: TestRunner) => {
      leaseStoreContract('a store', opened, { watches, runner });
    };
    expect(await failuresOf(declare(false))).toEqual({});
    expect(opened).toHaveBeenCalledTimes(1);
    const [all, without] = [true, false].map(watches => collect(declare(watches)).tests.map(({ title }) => title));
    expect(all?.filter(title => !without?.includes(title)).every(title => title.startsWith('watchers '))).toBe(true);
    expect(all?.length).toBe((without?.length ?? 0) + 2);
  });

  it('reports an answer to acquire that is not one', async () => {
    const answerless = Object.assign(make().one, { acquire: () => undefined as never });
    const message =
      "The lease store breaks a promise: acquire answers { kind: 'acquired' or 'running' or 'done', … }, not undefined.";
    const failures = await failuresOf(runner => {
      leaseStoreContract('a store', () => ({ one: answerless, other: answerless }), { watches: false, runner });
    });
    expect(new Set(Object.values(failures))).toEqual(new Set([message]));
    const search = await failuresOf(runner => {
      leaseStoreSearch('a store', () => ({ store: answerless, expire: () => undefined }), { depth: 1, runner });
    });
    expect(Object.values(search)).toEqual([message]);
  });

  it.each<[string, object, string]>([
    ['a method', { release: undefined }, 'The lease store has no method release.'],
    [
      'two methods',
      { acquire: 7, complete: undefined },
      'The lease store has no method acquire and no method complete.',
    ],
  ])('reports a store that lacks %s before any step, and closes it', async (_title, without, missing) => {
    const incomplete = Object.assign(make().one, without);
    const message = `${missing} Add what is missing: each has acquire, renew, complete and release.`;
    const close = jest.fn();
    for (const stores of [
      { one: incomplete, other: make().other },
      { one: make().one, other: incomplete },
    ]) {
      const failures = await failuresOf(runner => {
        leaseStoreContract('a store', () => ({ ...stores, close }), { runner });
      });
      expect(new Set(Object.values(failures))).toEqual(new Set([message]));
      expect(Object.keys(failures).length).toBe(12);
    }
    const search = await failuresOf(runner => {
      leaseStoreSearch('a store', () => ({ store: incomplete, expire: () => undefined, close }), { depth: 1, runner });
    });
    expect(Object.values(search)).toEqual([message]);
    expect(close).toHaveBeenCalledTimes(3);
  });

  it('reports a store that cannot be opened in each test, and has nothing to close then', async () => {
    const failures = await failuresOf(runner => {
      leaseStoreContract('a store', () => Promise.reject(new Error('There is no database')), { runner });
    });
    expect(new Set(Object.values(failures))).toEqual(new Set(['There is no database']));
    expect(Object.keys(failures).length).toBe(12);
  });
});
