import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { redisLeases } from '../../../../lib';
import { cutOff, inStep } from '../../../support/servers/redis-replication';
import { freePort } from '../../../support/servers/redis-server';
import { MASTER, SentinelDeployment } from '../../../support/servers/redis-sentinel';
import { clientOf, redisDeployment } from '../deployment';
import { Shop } from '../../../support/shop';

const STORE_TIMEOUT = 2_000;

const clients: [client: string, makeStore: (deployment: SentinelDeployment) => Keyv][] = [
  ['@keyv/redis', ({ addresses }) => new Keyv(new KeyvRedis({ name: MASTER, sentinelRootNodes: addresses }))],
  [
    '@keyv/valkey',
    ({ addresses }) => new Keyv(new KeyvValkey({ name: MASTER, sentinels: addresses, useRedisSets: false })),
  ],
];

describe('Redis Sentinel', () => {
  let deployment: SentinelDeployment;
  beforeAll(async () => {
    deployment = await SentinelDeployment.start(2);
  });
  afterAll(() => deployment.stop());
  describe.each(clients)('over %s', (client, makeStore) => {
    redisDeployment(`Sentinel over ${client}`, () => makeStore(deployment));
  });
});

it('a client that finds no sentinel is not left half open, where it would never connect again', async () => {
  const adapter = new KeyvRedis({
    name: MASTER,
    sentinelRootNodes: [{ host: '127.0.0.1', port: await freePort() }],
    maxCommandRediscovers: 0,
  });
  const store = new Keyv(adapter).on('error', () => undefined);
  await expect(redisLeases(clientOf(store)).acquire('key', 'token', 1_000)).rejects.toThrow(
    'None of the sentinels are available',
  );
  expect(adapter.client.isOpen).toBe(false);
});

describe.each(clients)('a failover under Redis Sentinel, over %s', (_client, makeStore) => {
  let deployment: SentinelDeployment;
  let shop: Shop;
  let careful: Shop;
  const outcomes: Record<string, unknown> = {};

  beforeAll(async () => {
    deployment = await SentinelDeployment.start(1);
    const {
      master,
      replicas: [replica],
    } = deployment;
    if (!replica) throw new Error('There is no replica');
    const store = makeStore(deployment);
    shop = await Shop.open(makeStore(deployment), { storeTimeout: STORE_TIMEOUT });
    careful = await Shop.open(store, {
      storeTimeout: STORE_TIMEOUT,
      leases: redisLeases(clientOf(store), { replicas: 1, replicaTimeout: 500 }),
    });
    await shop.order('replicated');
    // The first request finds the master, which may take longer than a store call may.
    await careful.outcomeInTheEnd('warm');
    outcomes['waited for'] = await careful.outcome('waited for');
    await inStep(master, replica);
    careful.onRun = () => cutOff(master, replica);
    outcomes['cut off while it ran'] = await careful.outcome('cut off while it ran');
    outcomes['cut off before'] = await careful.outcome('cut off before');
    outcomes['replayed while cut off'] = await careful.outcome('waited for');
    await shop.order('not replicated');
    await master.kill();
    replica.resume();
    outcomes['during'] = await shop.outcome('during');
    await deployment.failOver();
    outcomes['after'] = await shop.outcomeInTheEnd('after');
  });
  afterAll(async () => {
    await Promise.all([shop.close(), careful.close()]);
    await deployment.stop();
  });

  // A client that waits would wait for ever: there is no other master before the answer is here.
  it('answers 503 while there is no master, and runs nothing', () => {
    expect(outcomes).toMatchObject({ during: 503 });
    expect(shop.runs).not.toContain('during');
  });

  it('runs requests again when there is a new master', async () => {
    expect(outcomes).toMatchObject({ after: 'ran' });
    expect(await shop.outcome('after')).toBe('replayed');
  });

  it('replays what the new master had', async () => {
    expect(await shop.outcome('replicated')).toBe('replayed');
    expect(shop.runs.filter(key => key === 'replicated')).toHaveLength(1);
  });

  it('runs again what had been answered, but had not reached the new master', async () => {
    expect(await shop.outcome('not replicated')).toBe('ran');
    expect(shop.runs.filter(key => key === 'not replicated')).toHaveLength(2);
  });

  it('has what was waited for, with `replicas: 1`', async () => {
    expect(outcomes).toMatchObject({ 'waited for': 'ran' });
    expect(await careful.outcomeInTheEnd('waited for')).toBe('replayed');
  });

  it('would lose what no replica has, so `replicas: 1` does not run it', () => {
    expect(outcomes).toMatchObject({ 'cut off before': 503 });
    expect(careful.runs).not.toContain('cut off before');
  });

  it('would lose what no replica has any more, so `replicas: 1` does not call it stored', () => {
    expect(outcomes).toMatchObject({ 'cut off while it ran': 'ran' });
    expect(careful.kinds('cut off while it ran')).toContain('not-stored');
  });

  it('is not in the way of replays: `replicas: 1` asks nothing of them', () => {
    expect(outcomes).toMatchObject({ 'replayed while cut off': 'replayed' });
  });
});
