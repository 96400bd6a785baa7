import KeyvRedis from '@keyv/redis';
import KeyvValkey from '@keyv/valkey';
import Keyv from 'keyv';
import { startReplica } from '../../../../support/servers/redis-replication';
import { RedisServer } from '../../../../support/servers/redis-server';
import { TcpProxy } from '../../../../support/servers/tcp-proxy';
import { Shop } from '../../../../support/shop';
import { clientOf } from '../deployment';

const byReadonly = (error: Error): boolean => error.message.includes('READONLY');

describe.each<[client: string, connectsAgain: boolean, makeStore: (port: number) => Keyv]>([
  ['@keyv/redis', false, port => new Keyv(new KeyvRedis(`redis://127.0.0.1:${port}`))],
  ['@keyv/valkey', false, port => new Keyv(new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false }))],
  [
    '@keyv/valkey with reconnectOnError',
    true,
    port =>
      new Keyv(
        new KeyvValkey(`redis://127.0.0.1:${port}`, { useRedisSets: false, reconnectOnError: byReadonly } as object),
      ),
  ],
])('over %s, an address that leads to another master', (_client, connectsAgain, makeStore) => {
  it('while the former one keeps its connections as a replica, is followed by a client that connects again', async () => {
    const former = await RedisServer.start();
    const next = await startReplica(former);
    const proxy = await TcpProxy.before(former.port);
    const store = makeStore(proxy.port);
    const shop = await Shop.open(store, { storeTimeout: 300 });
    expect(await shop.outcome('before')).toBe('ran');
    shop.onRun = async () => {
      await next.ask('REPLICAOF', 'NO', 'ONE');
      await former.ask('REPLICAOF', '127.0.0.1', String(next.port));
      proxy.leadTo(next.port);
    };
    expect(await shop.outcome('during')).toBe('ran');
    shop.onRun = () => undefined;
    if (!connectsAgain) {
      expect(shop.kinds('during')).toContain('not-stored');
      // Of what has run, the former master can still tell.
      expect([await shop.outcome('before'), await shop.outcome('after')]).toEqual(['replayed', 503]);
      const client = clientOf(store) as unknown as {
        destroy?(): void;
        disconnect(reconnect: boolean): void;
        connect(): Promise<unknown>;
      };
      if (client.destroy) {
        client.destroy();
        await client.connect();
      } else client.disconnect(true);
    }
    expect(await shop.outcomeInTheEnd('after')).toBe('ran');
    for (const key of ['before', 'during']) expect(await shop.outcomeInTheEnd(key)).toBe('replayed');
    expect(shop.runs).toEqual(['before', 'during', 'after']);
    await shop.close();
    await proxy.close();
    await Promise.all([former.stop(), next.stop()]);
  });
});
