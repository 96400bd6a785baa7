import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PROMPT, startReplica } from './redis-replication';
import { freePort, RedisServer } from './redis-server';

/** The name that the sentinels know the master by. */
export const MASTER = 'shop';

const SENTINELS = 3;
const QUORUM = 2;
/** Milliseconds without an answer after which a sentinel takes the master for dead: not by itself, here. */
const DOWN_AFTER = 600_000;

/** A real redis-sentinel. It writes what it learns into its own configuration file. */
class Sentinel extends RedisServer {
  protected override readonly isUp = '+monitor master';

  static async watching(master: RedisServer): Promise<Sentinel> {
    const sentinel = new Sentinel(await freePort(), [
      `sentinel monitor ${MASTER} 127.0.0.1 ${master.port} ${QUORUM}`,
      `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER}`,
    ]);
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

/** One master, its replicas and three sentinels. */
export class SentinelDeployment {
  private constructor(
    readonly master: RedisServer,
    readonly replicas: readonly RedisServer[],
    private readonly sentinels: readonly [Sentinel, ...Sentinel[]],
  ) {}

  static async start(replicaCount: number): Promise<SentinelDeployment> {
    const master = await RedisServer.start(...PROMPT);
    const replicas = await Promise.all(Array.from({ length: replicaCount }, () => startReplica(master)));
    const sentinels = await Promise.all([
      Sentinel.watching(master),
      Sentinel.watching(master),
      Sentinel.watching(master),
    ]);
    for (const sentinel of sentinels) {
      await sentinel.answers(new RegExp(`^OK ${SENTINELS} usable`), 'SENTINEL', 'CKQUORUM', MASTER);
      await sentinel.answers(
        new RegExp(`num-slaves,${replicaCount},num-other-sentinels,${SENTINELS - 1}`),
        'SENTINEL',
        'MASTER',
        MASTER,
      );
    }
    return new SentinelDeployment(master, replicas, sentinels);
  }

  get addresses(): { host: string; port: number }[] {
    return this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /**
   * Makes a replica the master. By themselves the sentinels would first have to agree on who of them does it, and when they do
   * not, they try again much later; and one that has just lost sight of the replica gives up.
   */
  async failOver(): Promise<void> {
    const promoted = new RegExp(`,(${this.replicas.map(({ port }) => port).join('|')})$`);
    const [first] = this.sentinels;
    while (!promoted.test(String(await first.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER)))) {
      await first.ask('SENTINEL', 'FAILOVER', MASTER).catch(() => undefined);
      await pause(20);
    }
    for (const sentinel of this.sentinels)
      await sentinel.answers(promoted, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER);
  }

  async stop(): Promise<void> {
    await Promise.all([this.master, ...this.replicas, ...this.sentinels].map(server => server.stop()));
  }
}
