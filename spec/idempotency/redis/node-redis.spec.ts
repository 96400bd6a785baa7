import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import KeyvRedis, { createClient, createCluster, type RedisClientType } from '@keyv/redis';
import { redisLeases } from '../../../lib';
import { areClosed } from '../../../lib/idempotency/leases/closable-leases';
import { RedisServer } from '../../support/servers/redis-server';
import { TcpProxy } from '../../support/servers/tcp-proxy';

const LONG = 60_000;

let redis: RedisServer;
beforeEach(async () => {
  redis = await RedisServer.start();
});
afterEach(() => redis.stop());

const clientWith = (socket: object): RedisClientType =>
  createClient({ url: redis.url, socket }).on('error', () => undefined) as RedisClientType;

/** Resolves when the client gives up: it emits the error of a broken connection twice, and is closed the second time. */
function givingUp(client: RedisClientType): Promise<void> {
  return new Promise(resolve => {
    client.on('error', () => {
      if (!client.isOpen) resolve();
    });
  });
}

const reconnecting = (client: RedisClientType): Promise<void> =>
  new Promise(resolve => client.once('reconnecting', resolve));

const breakConnections = (): Promise<unknown> => redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

describe('a client of node-redis that has given up while a request runs', () => {
  it.each<[string, object, () => unknown]>([
    ['does not reconnect', { reconnectStrategy: false }, breakConnections],
    ['answers with an error', { reconnectStrategy: () => new Error('Enough') }, breakConnections],
    ['closes an idle connection', { socketTimeout: 100 }, () => undefined],
  ])('because it %s, is opened by the next step of the lease', async (_title, socket, makeGiveUp) => {
    const client = clientWith(socket);
    const leases = redisLeases(client);
    await leases.acquire('key', 'a', LONG);
    for (const step of ['renew', 'complete'] as const) {
      const hasGivenUp = givingUp(client);
      await makeGiveUp();
      await hasGivenUp;
      expect(await leases[step]('key', 'a', LONG)).toBe(true);
    }
    expect(await redis.ask('GET', 'keyv:bindonce:1::lease:key')).toBe('d:a');
    if (client.isOpen) client.destroy();
  });
});

describe('a client of node-redis that the application closes while its server is away', () => {
  const ways: [string, (client: RedisClientType) => unknown][] = [
    ['close()', client => client.close()],
    ['destroy()', client => client.destroy()],
    ['quit()', client => client.quit()],
    ['disconnect()', client => client.disconnect()],
    ["disconnect() of Keyv's adapter", client => new KeyvRedis(client).disconnect()],
    ['close() of a client with type mappings', client => client.withTypeMapping({}).close()],
  ];

  it.each(ways)('by %s, counts as closed at once, and stays closed', async (_title, close) => {
    const client = clientWith({});
    const leases = redisLeases(client);
    await leases.acquire('key', 'a', LONG);
    const lost = reconnecting(client);
    await redis.kill();
    await lost;
    // A closing client waits for the answers to its commands.
    client.get('key').catch(() => undefined);
    const stopped = reconnecting(client);
    void Promise.resolve(close(client)).catch(() => undefined);
    expect(areClosed(leases)).toBe(true);
    await expect(leases.renew('key', 'a', LONG)).rejects.toThrow('The client is closed');
    await stopped;
    await redis.up();
    await expect(leases.complete('key', 'a', LONG)).rejects.toThrow('The client is closed');
    expect([client.isOpen, areClosed(leases)]).toEqual([false, true]);
  });

  it('is opened again after it has given up, if the application had connected it since', async () => {
    const client = clientWith({ reconnectStrategy: false });
    const leases = redisLeases(client);
    await leases.acquire('key', 'a', LONG);
    client.destroy();
    await client.connect();
    const hasGivenUp = givingUp(client);
    await breakConnections();
    await hasGivenUp;
    expect(areClosed(leases)).toBe(false);
    expect(await leases.renew('key', 'a', LONG)).toBe(true);
    client.destroy();
  });
});

it('a node of a Cluster whose client has given up is connected by the next step of a lease', async () => {
  const node = await RedisServer.startAsNode('--cluster-announce-ip', '127.0.0.1');
  await node.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await node.answers(/cluster_state:ok/, 'CLUSTER', 'INFO');
  const cluster = createCluster({ rootNodes: [{ url: node.url }], defaults: { socket: { reconnectStrategy: false } } });
  cluster.on('error', () => undefined);
  const leases = redisLeases(cluster);
  await leases.acquire('key', 'a', LONG);
  const hasGivenUp = givingUp(cluster.masters[0]?.client as RedisClientType);
  await node.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await hasGivenUp;
  expect(cluster.isOpen).toBe(true);
  expect(await leases.renew('key', 'a', LONG)).toBe(true);
  cluster.destroy();
  await node.stop();
});

it('a connection that is not answered in its handshake is given up: the next step makes another', async () => {
  const silent = createServer(socket => socket.resume().on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const proxy = await TcpProxy.before((silent.address() as AddressInfo).port);
  const client = createClient({ url: `redis://127.0.0.1:${proxy.port}` }).on('error', () => undefined);
  const leases = redisLeases(client);
  await expect(leases.acquire('key', 'a', LONG)).rejects.toThrow('The client was closed before it was connected');
  proxy.leadTo(redis.port);
  expect(await leases.acquire('key', 'a', LONG)).toEqual({ kind: 'acquired' });
  client.destroy();
  await proxy.close();
  silent.close();
});
