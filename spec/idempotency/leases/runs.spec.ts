import { factsOf } from '../../../lib/idempotency/leases/runs';

describe('the facts of a request that a store is told', () => {
  const about = { method: 'POST', path: '/orders', created: Date.now() };
  const factsWith = factsOf(about, 'order 42', 'alice');
  const facts = factsWith('salt');

  it('hash its key and its caller', () => {
    const { keyHash = '', callerHash = '' } = facts;
    expect([keyHash.length, callerHash.length, keyHash === callerHash]).toEqual([43, 43, false]);
    expect(JSON.parse(JSON.stringify(facts))).toEqual({ ...about, keyHash, callerHash });
  });

  it('have neither in clear text, however a store copies them', () => {
    const copies = JSON.stringify([facts, { ...facts }, Object.getOwnPropertyDescriptors(facts)]);
    expect(copies).not.toMatch(/order 42|alice/);
  });

  it('have no hashes without a salt', () => {
    const { keyHash, callerHash } = factsWith(undefined);
    expect([keyHash, callerHash]).toEqual([undefined, undefined]);
  });
});
