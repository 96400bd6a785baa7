import KeyvRedis, { createClient, createKeyv } from '@keyv/redis';
import { Keyv } from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { RedisServer } from '../support/servers/redis-server';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { Shop } from '../support/shop';

/** Commands that clients send when they connect, and those of this spec. */
const OF_CONNECTIONS = new Set(['hello', 'client', 'ping']);

/** The commands that clients send, as the server sees them; not those of scripts. */
class Commands {
  private readonly lines: string[] = [];
  private readonly client;
  private seen = (): void => undefined;

  constructor(private readonly redis: RedisServer) {
    this.client = createClient({ url: redis.url });
  }

  async watch(): Promise<void> {
    await this.client.connect();
    await this.client.monitor(line => {
      this.lines.push(String(line));
      this.seen();
    });
  }

  /** Returns the names of the commands that were sent since the last call. */
  async next(): Promise<string[]> {
    const arrived = new Promise<void>(resolve => {
      this.seen = () => {
        if (this.lines.some(line => line.includes('"the end"'))) resolve();
      };
    });
    await this.redis.ask('PING', 'the end');
    await arrived;
    return this.lines
      .splice(0)
      .filter(line => !line.includes(' lua]'))
      .map(line => /"(\w+)"/.exec(line)?.[1]?.toLowerCase() ?? '')
      .filter(name => !OF_CONNECTIONS.has(name));
  }

  stop(): void {
    this.client.destroy();
  }
}

describe('on Redis', () => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  let commands: Commands;
  let shop: Shop;
  beforeEach(async () => {
    redis = await RedisServer.start();
    proxy = await TcpProxy.before(redis.port);
    commands = new Commands(redis);
    await commands.watch();
  });
  afterEach(async () => {
    commands.stop();
    await shop.close();
    await proxy.close();
    await redis.stop();
  });

  /** The commands that a request sends, and how often it waits for their answers. */
  async function cost(request: () => Promise<unknown>) {
    const before = proxy.answers;
    await request();
    return { waits: proxy.answers - before, commands: (await commands.next()).join(' ') };
  }

  const url = (): string => `redis://127.0.0.1:${proxy.port}`;

  it.each<[title: string, open: () => Parameters<typeof Shop.open>[0]]>([
    ['a Keyv', () => new Keyv(new KeyvRedis(url()))],
    ['a Keyv with a namespace', () => new Keyv(new KeyvRedis(url()), { namespace: 'shop' })],
    ['what `createKeyv` makes', () => createKeyv(url(), { namespace: 'shop' })],
    ['a Keyv 6', () => new Keyv6(new KeyvRedis(url()), { namespace: 'shop' })],
  ])('%s: a first request waits for three answers, a replay for two', async (_title, open) => {
    shop = await Shop.open(open());
    await shop.outcome('opens the connection');
    await commands.next();
    expect(await cost(async () => expect(await shop.outcome('order')).toBe('ran'))).toEqual({
      waits: 3,
      commands: 'eval set eval',
    });
    expect(await cost(async () => expect(await shop.outcome('order')).toBe('replayed'))).toEqual({
      waits: 2,
      commands: 'eval get',
    });
  });
});
