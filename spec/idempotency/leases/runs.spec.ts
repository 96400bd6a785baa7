import { RequestFacts } from '../../../lib/idempotency/leases/runs';

describe('the facts of a request that a store is told', () => {
  const facts = new RequestFacts('POST', '/orders', undefined, 'order 42', 'alice').saltedWith('salt');

  it('hash its key and its caller', () => {
    const { keyHash = '', callerHash = '' } = facts;
    expect([keyHash.length, callerHash.length, keyHash === callerHash]).toEqual([43, 43, false]);
    expect(JSON.parse(JSON.stringify(facts))).toEqual({
      ...{ method: 'POST', path: '/orders', created: facts.created },
      ...{ keyHash, callerHash },
    });
  });

  it('have neither in clear text, however a store copies them', () => {
    const copies = JSON.stringify([facts, { ...facts }, Object.getOwnPropertyDescriptors(facts)]);
    expect(copies).not.toMatch(/order 42|alice/);
  });

  it('have no hashes without a salt', () => {
    const { keyHash, callerHash } = new RequestFacts('POST', '/', undefined, 'k', 'alice').saltedWith(undefined);
    expect([keyHash, callerHash]).toEqual([undefined, undefined]);
  });
});
