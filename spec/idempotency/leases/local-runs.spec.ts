import { memoryLeases } from '../../../lib';
import { localRun, noteRunning, noteStoring } from '../../../lib/idempotency/leases/local-runs';

/** The functions of another copy of the package in this process. */
function ofAnotherCopy(): { localRun: typeof localRun } {
  let copy: { localRun: typeof localRun } | undefined;
  jest.isolateModules(() => {
    copy = jest.requireActual('../../../lib/idempotency/leases/local-runs');
  });
  return copy as { localRun: typeof localRun };
}

it('another copy of the package knows the runs of this process, for each lease store', () => {
  const leases = memoryLeases();
  const copy = ofAnotherCopy();
  expect(copy.localRun).not.toBe(localRun);
  const end = noteRunning({ cacheKey: 'k', token: 't' }, leases);
  expect(copy.localRun('k', leases)).toEqual({ token: 't', phase: 'running' });
  expect(copy.localRun('k', memoryLeases())).toBeUndefined();
  end();
  expect(copy.localRun('k', leases)).toBeUndefined();
});

it('a run whose response is being stored is no longer at work', () => {
  const leases = memoryLeases();
  const run = { cacheKey: 'k', token: 't' };
  const [hasEnded, hasStored] = [noteRunning(run, leases), noteStoring(run, 10, leases)];
  expect(localRun('k', leases)).toEqual({ token: 't', phase: 'storing' });
  hasEnded();
  expect(localRun('k', leases)).toEqual({ token: 't', phase: 'storing' });
  hasStored();
  expect(localRun('k', leases)).toBeUndefined();
});

it('the end of one run does not end another under the same key', () => {
  const leases = memoryLeases();
  const end = noteRunning({ cacheKey: 'k', token: 'one' }, leases);
  noteRunning({ cacheKey: 'k', token: 'two' }, leases);
  end();
  expect(localRun('k', leases)).toEqual({ token: 'two', phase: 'running' });
});
