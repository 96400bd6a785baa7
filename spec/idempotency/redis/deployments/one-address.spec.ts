import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { startReplica } from '../../../support/servers/redis-replication';
import { MASTER, SentinelDeployment } from '../../../support/servers/redis-sentinel';
import { RedisServer } from '../../../support/servers/redis-server';
import { TcpProxy } from '../../../support/servers/tcp-proxy';
import { Shop } from '../../../support/shop';

const SLOTS = 16_384;

const clients: [client: string, makeStore: (port: number) => Keyv][] = [
  ['@keyv/redis', port => new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`))],
  ['@keyv/valkey', port => new Keyv(new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false }))],
];

/** Two processes of one service. */
const shopsOn = (makeStore: () => Keyv): Promise<[Shop, Shop]> =>
  Promise.all([Shop.open(makeStore(), { ignoreHost: true }), Shop.open(makeStore(), { ignoreHost: true })]);

describe.each(clients)('over %s', (_client, makeStore) => {
  it('a server with the slots of a cluster, behind one address, stores responses', async () => {
    const server = await RedisServer.startAsNode();
    await server.ask('CLUSTER', 'ADDSLOTSRANGE', '0', String(SLOTS - 1));
    await server.answers(/cluster_state:ok/, 'CLUSTER', 'INFO');
    const shops = await shopsOn(() => makeStore(server.port));
    for (const key of ['a', 'b', 'c', 'd']) {
      expect([await shops[0].outcome(key), await shops[1].outcome(key)]).toEqual(['ran', 'replayed']);
      expect(shops[0].kinds(key)).toEqual(['executed']);
    }
    for (const shop of shops) await shop.close();
    await server.stop();
  });

  it('an address that leads to another master, while the former one keeps its connections as a replica, is followed', async () => {
    const former = await RedisServer.start();
    const next = await startReplica(former);
    const proxy = await TcpProxy.before(former.port);
    const [shop, other] = await shopsOn(() => makeStore(proxy.port));
    const failOver = async (): Promise<void> => {
      await next.ask('REPLICAOF', 'NO', 'ONE');
      await former.ask('REPLICAOF', '127.0.0.1', String(next.port));
      proxy.leadTo(next.port);
    };
    expect([await shop.outcome('before'), await other.outcome('before')]).toEqual(['ran', 'replayed']);
    shop.onRun = failOver;
    expect([await shop.outcome('during'), shop.kinds('during')]).toEqual(['ran', ['executed']]);
    shop.onRun = () => undefined;
    // The store of the other process has not written since.
    expect([await other.outcome('after'), await shop.outcome('after')]).toEqual(['ran', 'replayed']);
    expect(await other.outcome('during')).toBe('replayed');
    expect([...shop.runs, ...other.runs]).toEqual(['before', 'during', 'after']);
    await Promise.all([shop.close(), other.close()]);
    await proxy.close();
    await Promise.all([former.stop(), next.stop()]);
  });
});

it('a response that a replica does not have yet, and the client asks there, is replayed or asked for again', async () => {
  const deployment = await SentinelDeployment.start(1);
  const { addresses, master } = deployment;
  const readsFromReplicas = (): Keyv =>
    new Keyv(new KeyvRedis({ name: MASTER, sentinelRootNodes: addresses, replicaPoolSize: 1 }));
  const [shop, other] = await shopsOn(readsFromReplicas);
  await shop.outcomeInTheEnd('warm');
  await other.outcomeInTheEnd('warm');
  // The replica goes on to answer with what it has.
  await master.ask('ACL', 'SETUSER', 'default', '-psync', '-replconf');
  await master.ask('CLIENT', 'KILL', 'TYPE', 'replica');
  const outcomes = new Set<unknown>();
  for (let index = 0; index < 20; index++) {
    await shop.outcomeInTheEnd(`order ${index}`);
    outcomes.add(await other.outcome(`order ${index}`));
  }
  expect([...outcomes]).toEqual(['replayed']);
  await Promise.all([shop.close(), other.close()]);
  await deployment.stop();
});
