import { createHmac } from 'node:crypto';
import { memoryLeases, type LeaseStore, type RunFacts } from '../../../lib';
import { guarded } from '../../support/guarded';

/** Leases in memory that note what they are told of runs. */
function told(salt: LeaseStore['salt']) {
  const facts: (RunFacts | undefined)[] = [];
  const leases = memoryLeases();
  const acquire: LeaseStore['acquire'] = (key, token, ms, about) => {
    facts.push(about);
    return leases.acquire(key, token, ms);
  };
  return { facts, leases: Object.assign(Object.create(leases) as LeaseStore, { acquire, salt }) };
}

it('a lease store is told of each run: method, path, time, and the hashes of key and caller, if there is one, with its salt', async () => {
  const salt = jest.fn(() => Promise.resolve('pepper'));
  const { facts, leases } = told(salt);
  const { post } = await guarded({ leases, scope: req => req.get('X-Who') });
  const before = Date.now();
  const path = '/orders/7?token=secret';
  await post({ key: 'k-1', method: 'PUT', path, headers: { 'X-Who': 'ann' } });
  await post({ key: 'k-2', method: 'PUT', path });
  const hash = (text: string) => createHmac('sha256', 'pepper').update(text).digest('base64url');
  const about = { method: 'PUT', path: '/orders/7', created: expect.closeTo(before, -4) as number };
  expect(JSON.parse(JSON.stringify(facts))).toEqual([
    { ...about, keyHash: hash('k-1'), callerHash: hash('ann') },
    { ...about, keyHash: hash('k-2') },
  ]);
  expect(salt).toHaveBeenCalledTimes(1);
  expect(JSON.stringify(facts.map(one => Object.getOwnPropertyDescriptors(one ?? {})))).not.toMatch(/k-1|ann/);
});

it('a lease store that has no salt is told no hashes; while its salt is out of reach, requests get 503', async () => {
  const without = told(undefined);
  await (await guarded({ leases: without.leases })).post();
  expect(without.facts).toMatchObject([{ method: 'POST', keyHash: undefined, callerHash: undefined }]);
  const { leases } = told(() => Promise.reject(new Error('away')));
  expect((await (await guarded({ leases })).post()).status).toBe(503);
});
