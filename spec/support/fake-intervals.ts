/** Makes `setInterval` fake, and nothing else, until the spec is over: `jest.advanceTimersByTime()` calls what is due. */
export function fakeIntervals(): void {
  jest.useFakeTimers({
    doNotFake: [
      'nextTick',
      'queueMicrotask',
      'setImmediate',
      'clearImmediate',
      'setTimeout',
      'clearTimeout',
      'Date',
      'hrtime',
      'performance',
    ],
  });
}

afterEach(() => {
  jest.useRealTimers();
});
