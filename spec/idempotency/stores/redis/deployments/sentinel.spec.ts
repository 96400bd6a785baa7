import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { cutOff, inStep } from '../../../../support/servers/redis-replication';
import { MASTER, SentinelDeployment } from '../../../../support/servers/redis-sentinel';
import { redisDeployment } from '../deployment';
import { Shop } from '../../../../support/shop';

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

describe.each(clients)('a failover under Redis Sentinel, over %s', (_client, makeStore) => {
  let deployment: SentinelDeployment;
  let shop: Shop;
  const outcomes: Record<string, unknown> = {};

  beforeAll(async () => {
    deployment = await SentinelDeployment.start(1);
    const {
      master,
      replicas: [replica],
    } = deployment;
    if (!replica) throw new Error('There is no replica');
    shop = await Shop.open(makeStore(deployment), { storeTimeout: STORE_TIMEOUT });
    // The first request finds the master, which may take longer than a store call may.
    await shop.outcomeInTheEnd('replicated');
    await inStep(master, replica);
    await cutOff(master, replica);
    await shop.order('not replicated');
    await master.kill();
    replica.resume();
    outcomes['during'] = await shop.outcome('during');
    await deployment.failOver();
    outcomes['after'] = await shop.outcomeInTheEnd('after');
  });
  afterAll(async () => {
    await shop.close();
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
});
