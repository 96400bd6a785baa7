import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, RedisServer } from './redis-server';

/** The name that the sentinels know the master by. */
export const MASTER = 'shop';

const SENTINELS = 3;

/** A real redis-sentinel. It writes what it learns into its own configuration file. */
class Sentinel extends RedisServer {
  protected override readonly isUp = '+monitor master';

  static async watching(master: RedisServer): Promise<Sentinel> {
    const settings = [`sentinel monitor ${MASTER} 127.0.0.1 ${master.port} 2`];
    const sentinel = new Sentinel(await freePort(), settings);
    await sentinel.up();
    // By themselves they look around every ten seconds, and tell each other every two.
    await sentinel.ask('SENTINEL', 'DEBUG', 'info-period', '100', 'publish-period', '100', 'ping-period', '100');
    return sentinel;
  }

  protected override commandLine(settings: readonly string[]): string[] {
    const file = join(this.directory, 'sentinel.conf');
    writeFileSync(file, [`port ${this.port}`, 'bind 127.0.0.1', `dir ${this.directory}`, ...settings].join('\n'));
    return [file, '--sentinel'];
  }
}

/** One master and three sentinels. */
export class SentinelDeployment {
  private constructor(
    private readonly master: RedisServer,
    private readonly sentinels: readonly Sentinel[],
  ) {}

  static async start(): Promise<SentinelDeployment> {
    const master = await RedisServer.start();
    const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => Sentinel.watching(master)));
    for (const sentinel of sentinels)
      await sentinel.answers(new RegExp(`^OK ${SENTINELS} usable`), 'SENTINEL', 'CKQUORUM', MASTER);
    return new SentinelDeployment(master, sentinels);
  }

  get addresses(): { host: string; port: number }[] {
    return this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  async stop(): Promise<void> {
    await Promise.all([this.master, ...this.sentinels].map(server => server.stop()));
  }
}
