import { after } from '../../lib/basics/awaitable';

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
