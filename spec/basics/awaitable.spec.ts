import { after, ignoreRejection } from '../../lib/basics/awaitable';

it('waits for the promise of an asynchronous function, also where the application has replaced the global Promise', async () => {
  const own = globalThis.Promise;
  const later = async (): Promise<string> => {
    await own.resolve();
    return 'value';
  };
  globalThis.Promise = class extends own<unknown> {} as typeof Promise;
  try {
    expect(await after(later(), value => `the ${value}`)).toBe('the value');
  } finally {
    globalThis.Promise = own;
  }
});

// Jest fails a test during which a rejection is left unhandled.
it('a promise that is not awaited may be rejected, also where the application has replaced the global Promise', async () => {
  const own = globalThis.Promise;
  const fail = async (): Promise<never> => {
    await own.resolve();
    throw new Error('late');
  };
  ignoreRejection(fail());
  globalThis.Promise = class extends own<unknown> {} as typeof Promise;
  try {
    ignoreRejection(fail());
  } finally {
    globalThis.Promise = own;
  }
  await new Promise(setImmediate);
});

it('what does its work when it is awaited has no rejection to ignore', () => {
  const lazy = {
    then: () => {
      throw new Error('The work has begun');
    },
  };
  for (const value of [undefined, null, 'text', lazy])
    expect(() => {
      ignoreRejection(value);
    }).not.toThrow();
});
