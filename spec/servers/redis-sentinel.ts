import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROMPT, startReplica } from './redis-replication';
import { freePort, RedisServer } from './redis-server';

/** The name that the sentinels know the master by. */
export const MASTER = 'shop';

const SENTINELS = 3;
const QUORUM = 2;
/** Milliseconds without an answer after which a sentinel takes the master for dead. */
const DOWN_AFTER = 500;

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
  private constructor(readonly master: RedisServer, readonly replicas: readonly RedisServer[], private readonly sentinels: readonly Sentinel[]) {}

  static async start(replicaCount: number): Promise<SentinelDeployment> {
    const master = await RedisServer.start(...PROMPT);
    const replicas = await Promise.all(Array.from({ length: replicaCount }, () => startReplica(master)));
    const sentinels = await Promise.all(Array.from({ length: SENTINELS }, () => Sentinel.watching(master)));
    for (const sentinel of sentinels) {
      await sentinel.answers(new RegExp(`^OK ${SENTINELS} usable`), 'SENTINEL', 'CKQUORUM', MASTER);
      await sentinel.answers(new RegExp(`num-slaves,${replicaCount},num-other-sentinels,${SENTINELS - 1}`), 'SENTINEL', 'MASTER', MASTER);
    }
    return new SentinelDeployment(master, replicas, sentinels);
  }

  get addresses(): { host: string; port: number }[] {
    return this.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** Kills the master. Resolves when a replica has been made the master in its place, with that one. */
  async failOver(): Promise<RedisServer> {
    await this.master.kill();
    const [sentinel] = this.sentinels;
    await sentinel?.answers(new RegExp(`,(${this.replicas.map(({ port }) => port).join('|')})$`), 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER);
    const address = String(await sentinel?.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER));
    const promoted = this.replicas.find(({ port }) => address.endsWith(`,${port}`));
    if (!promoted) throw new Error(`The new master ${address} is none of the replicas`);
    return promoted;
  }

  async stop(): Promise<void> {
    await Promise.all([this.master, ...this.replicas, ...this.sentinels].map(server => server.stop()));
  }
}
