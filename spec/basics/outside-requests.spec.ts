import { AsyncLocalStorage } from 'node:async_hooks';
import { outsideRequests } from '../../lib/basics/outside-requests';
import { signal } from '../support/signal';

const request = new AsyncLocalStorage<string>();

it('what is made outside of the requests finds nothing in the AsyncLocalStorage of the request that needs it', async () => {
  const told = signal<unknown[]>();
  request.run('a request', () => {
    const made = outsideRequests(() => {
      setImmediate(() => {
        told.happens([request.getStore()]);
      });
      return 'made';
    });
    expect([made, request.getStore()]).toEqual(['made', 'a request']);
  });
  expect(await told.happened).toEqual([undefined]);
});

it('its error is thrown', () => {
  expect(() =>
    outsideRequests(() => {
      throw new Error('not made');
    }),
  ).toThrow('not made');
});
