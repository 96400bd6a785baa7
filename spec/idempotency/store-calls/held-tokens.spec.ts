import { memoryLeases } from '../../../lib';
import { holdToken, tokenHeldHere } from '../../../lib/idempotency/store-calls/held-tokens';

/** The functions of another copy of the package in this process. */
function ofAnotherCopy(): { tokenHeldHere: typeof tokenHeldHere } {
  let copy: { tokenHeldHere: typeof tokenHeldHere } | undefined;
  jest.isolateModules(() => {
    copy = jest.requireActual('../../../lib/idempotency/store-calls/held-tokens');
  });
  return copy as { tokenHeldHere: typeof tokenHeldHere };
}

it('another copy of the package knows whose response is being stored here', () => {
  const leases = memoryLeases();
  const copy = ofAnotherCopy();
  expect(copy.tokenHeldHere).not.toBe(tokenHeldHere);
  const forget = holdToken({ cacheKey: 'k', token: 't' }, leases);
  expect([copy.tokenHeldHere('k', leases), copy.tokenHeldHere('k', memoryLeases())]).toEqual(['t', undefined]);
  forget();
  expect(copy.tokenHeldHere('k', leases)).toBeUndefined();
});
