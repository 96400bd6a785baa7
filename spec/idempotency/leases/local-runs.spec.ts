import { memoryLeases, type LeaseStore } from '../../../lib';
import { LocalRun, localRun } from '../../../lib/idempotency/leases/local-runs';

/** The functions of another copy of the package in this process. */
function ofAnotherCopy(): { localRun: typeof localRun } {
  let copy: { localRun: typeof localRun } | undefined;
  jest.isolateModules(() => {
    copy = jest.requireActual('../../../lib/idempotency/leases/local-runs');
  });
  return copy as { localRun: typeof localRun };
}

function runOf(token: string, leases: LeaseStore): LocalRun {
  const id = { cacheKey: 'k', token, asked: performance.now() };
  return new LocalRun(id, { leases, leaseDuration: 30_000 }, { renew: () => true, lose: () => undefined });
}

it('another copy of the package knows the runs of this process, for each lease store', () => {
  const leases = memoryLeases();
  const copy = ofAnotherCopy();
  expect(copy.localRun).not.toBe(localRun);
  const run = runOf('t', leases);
  expect(copy.localRun('k', leases)).toMatchObject({ token: 't', phase: 'running' });
  expect(copy.localRun('k', memoryLeases())).toBeUndefined();
  run.end();
  expect(copy.localRun('k', leases)).toBeUndefined();
});

it('a run whose response is being stored is no longer at work', async () => {
  const leases = memoryLeases();
  const run = runOf('t', leases);
  let stored = (): void => undefined;
  const storing = run.keepUntil(
    new Promise(resolve => {
      stored = resolve;
    }),
    10,
  );
  run.end();
  expect(localRun('k', leases)).toMatchObject({ token: 't', phase: 'storing' });
  stored();
  await storing;
  expect(localRun('k', leases)).toBeUndefined();
});

it('the end of one run does not end another under the same key', () => {
  const leases = memoryLeases();
  const one = runOf('one', leases);
  const two = runOf('two', leases);
  one.end();
  expect(localRun('k', leases)).toMatchObject({ token: 'two', phase: 'running' });
  two.end();
});
