import KeyvRedis, { createClient } from '@keyv/redis';
import { Keyv } from 'keyv';
import { RedisServer } from '../support/servers/redis-server';
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

it('waits for three commands for a first request, and for two for a replay', async () => {
  const redis = await RedisServer.start();
  const shop = await Shop.open(new Keyv(new KeyvRedis(redis.url)));
  const commands = new Commands(redis);
  try {
    await commands.watch();
    expect(await shop.outcome('order')).toBe('ran');
    expect(await commands.next()).toEqual(['eval', 'set', 'eval']);
    expect(await shop.outcome('order')).toBe('replayed');
    expect(await commands.next()).toEqual(['eval', 'get']);
  } finally {
    commands.stop();
    await shop.close();
    await redis.stop();
  }
});
