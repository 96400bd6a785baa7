import KeyvRedis, { createClient, createKeyv } from '@keyv/redis';
import { Keyv } from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { RedisServer } from '../support/servers/redis-server';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { Shop } from '../support/shop';

/** Commands that clients send when they connect, and those of this spec. */
const OF_CONNECTIONS = new Set(['hello', 'client', 'ping']);

describe('on Redis', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let shop: Shop;
  const connect = () => createClient({ url: redis.url }).connect();
  let monitor: Awaited<ReturnType<typeof connect>>;
  /** What clients send, as the server sees it. */
  const lines: string[] = [];
  beforeEach(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.before(redis.port);
    monitor = await connect();
    await monitor.monitor(line => lines.push(String(line)));
  });
  afterEach(async () => {
    monitor.destroy();
    await shop.close();
    await proxy.close();
    await redis.stop();
  });

  /** The outcome of an order, the commands that it sends (not those of scripts), and how often it waits for their answers. */
  async function cost(order: string): Promise<string> {
    const before = proxy.answers;
    const outcome = await shop.outcome(order);
    const waits = proxy.answers - before;
    await redis.ask('PING', 'the end');
    while (!lines.some(line => line.includes('"the end"'))) await new Promise(setImmediate);
    const names = lines
      .splice(0)
      .filter(line => !line.includes(' lua]'))
      .map(line => /"(\w+)"/.exec(line)?.[1]?.toLowerCase() ?? '');
    return `${outcome}, ${waits}: ${names.filter(name => !OF_CONNECTIONS.has(name)).join(' ')}`;
  }

  const url = (): string => `redis://127.0.0.1:${proxy.port}`;

  it.each<[title: string, open: () => Parameters<typeof Shop.open>[0]]>([
    ['a Keyv', () => new Keyv(new KeyvRedis(url()))],
    ['a Keyv with a namespace', () => new Keyv(new KeyvRedis(url()), { namespace: 'shop' })],
    ['what `createKeyv` makes', () => createKeyv(url(), { namespace: 'shop' })],
    ['a Keyv 6', () => new Keyv6(new KeyvRedis(url()), { namespace: 'shop' })],
  ])('%s: a first request waits for three answers, a replay for two', async (_title, open) => {
    shop = await Shop.open(open());
    await cost('opens the connection');
    expect([await cost('order'), await cost('order')]).toEqual(['ran, 3: eval set eval', 'replayed, 2: eval get']);
  });
});
