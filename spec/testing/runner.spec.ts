import { leaseStoreContract, storeContract, type LeaseStoreUnderTest, type TestRunner } from '../../lib/testing';
import { memoryLeases } from '../../lib';
import { failuresOf } from './collected-suite';

const make = (): LeaseStoreUnderTest => {
  const leases = memoryLeases();
  return { one: leases, other: leases };
};

describe('a suite that is declared on a runner', () => {
  it.each<[string, unknown, string]>([
    ['none of its functions', {}, 'there is no describe, no it, no after (or afterAll) in options.runner'],
    ['no way to end', { describe, it }, 'there is no after (or afterAll) in options.runner'],
  ])('with %s throws an error that says what to pass', (_title, runner, message) => {
    for (const [owner, declare] of Object.entries({ leaseStoreContract, storeContract }))
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

  it('opens the store once', async () => {
    const opened = jest.fn(make);
    expect(await failuresOf(runner => leaseStoreContract('a store', opened, { runner }))).toEqual({});
    expect(opened).toHaveBeenCalledTimes(1);
  });

  it('reports a store that lacks a method, and closes it', async () => {
    const incomplete = Object.assign(make().one, { release: undefined }) as never;
    const close = jest.fn();
    const failures = await failuresOf(runner => {
      leaseStoreContract('a store', () => ({ one: incomplete, other: incomplete, close }), { runner });
    });
    expect(Object.values(failures)).toContain('The lease store has no method release. Add it.');
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('reports a store that cannot be opened in each test, and has nothing to close then', async () => {
    const failures = await failuresOf(runner => {
      leaseStoreContract('a store', () => Promise.reject(new Error('There is no database')), { runner });
    });
    expect(new Set(Object.values(failures))).toEqual(new Set(['There is no database']));
    expect(Object.keys(failures).length).toBe(12);
  });
});
