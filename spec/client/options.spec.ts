import { idempotentFetch, type IdempotentFetchOptions } from '../../lib/client';

it.each<[string, unknown, string]>([
  ...[null, 'http://shop/', Promise.resolve({ prefix: 'a' }), [], new Map()].map((one): [string, unknown, string] => [
    'no object',
    one,
    'options must be an object. A request is made by the function it returns.',
  ]),
  ['an unknown option', { retries: 3 }, 'there is no option "retries"; there are: storage, prefix, keyLifetime, '],
  ['one that is inherited', { constructor: 1 }, 'there is no option "constructor"; there are: '],
  ...[{ getItem: () => null }, () => undefined, 'disk'].map((storage): [string, unknown, string] => [
    'storage',
    { storage },
    'storage must be "memory" or an object with claim() and remove() (a page needs none: its keys are in IndexedDB), not',
  ]),
  ['prefix', { prefix: 1 }, 'prefix must be a string, not 1'],
  ['keyLifetime', { keyLifetime: 0 }, 'keyLifetime must be a number of milliseconds above zero, not 0'],
  ['whenStorageFails', { whenStorageFails: 'run' }, 'whenStorageFails must be "reject" or "memory", not "run"'],
  ['additionalHeaders', { additionalHeaders: ['a b'] }, 'additionalHeaders must be an array of HTTP header names, not'],
  ['headerName', { headerName: '' }, 'headerName must be an HTTP header name, not ""'],
  ['replayedHeader', { replayedHeader: false }, 'replayedHeader must be an HTTP header name, not false'],
  ['onRetry', { onRetry: true }, 'onRetry must be a function, not true'],
  ['fetch', { fetch: 'fetch' }, 'fetch must be a function, not "fetch"'],
  ...['deadline', 'attemptTimeout', 'baseDelay', 'maxDelay'].flatMap(name =>
    [0, 1.5, 2 ** 31, Infinity].map((value): [string, unknown, string] => [
      name,
      { [name]: value },
      `${name} must be a whole number of milliseconds from 1 to 2147483647, not ${value}`,
    ]),
  ),
])('is refused when the client is made: %s', (_title, options, message) => {
  expect(() => idempotentFetch(options as IdempotentFetchOptions)).toThrow(TypeError);
  expect(() => idempotentFetch(options as IdempotentFetchOptions)).toThrow(`idempotentFetch: ${message}`);
});

it('an option that is undefined has its default', () => {
  expect(idempotentFetch({ deadline: undefined as never })).toBeInstanceOf(Function);
});
