import { memoryLeases } from '../../../lib';
import { leaseStoreSearch } from '../../../lib/testing';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

// Time passes for all keys at once: one sequence at a time.
leaseStoreSearch(
  'memoryLeases()',
  () => ({
    store: memoryLeases(),
    expire: () => {
      jest.advanceTimersByTime(60_001);
    },
  }),
  { depth: 5, atOnce: 1 },
);
