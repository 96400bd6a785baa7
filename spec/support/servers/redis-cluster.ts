import { freePort, RedisServer } from './redis-server';

const SLOTS = 16_384;

/** A real Redis Cluster of three masters. */
export class RedisCluster {
  private constructor(private readonly masters: readonly RedisServer[]) {}

  static async start(): Promise<RedisCluster> {
    const nodes = await Promise.all(Array.from({ length: 3 }, startNode));
    const masters = nodes.map(({ server }) => server);
    for (const [index, master] of masters.entries()) {
      const [from, to] = [index, index + 1].map(at => Math.ceil((at * SLOTS) / 3)) as [number, number];
      await master.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      await master.ask('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1));
    }
    for (const { server, bus } of nodes.slice(1))
      await masters[0]?.ask('CLUSTER', 'MEET', '127.0.0.1', String(server.port), bus);
    await Promise.all(
      masters.map(master => master.answers(/cluster_state:ok[^]*cluster_known_nodes:3/, 'CLUSTER', 'INFO')),
    );
    return new RedisCluster(masters);
  }

  get addresses(): { host: string; port: number }[] {
    return this.masters.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /**
   * Moves the slot of a key with what lies in it (redis.io, "CLUSTER SETSLOT"); on the way, its keys are asked for at both
   * nodes. @returns the node that has it then.
   */
  async moveSlotOf(key: string): Promise<RedisServer> {
    const slot = String(await this.masters[0]?.ask('CLUSTER', 'KEYSLOT', key));
    const at = Math.floor((Number(slot) * 3) / SLOTS);
    const [source, target] = [this.masters[at], this.masters[(at + 1) % 3]];
    if (!source || !target) throw new Error(`Nobody has slot ${slot}`);
    const [sourceId, targetId] = [await source.ask('CLUSTER', 'MYID'), await target.ask('CLUSTER', 'MYID')].map(String);
    await target.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId ?? '');
    await source.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId ?? '');
    const keys = (await source.ask('CLUSTER', 'GETKEYSINSLOT', slot, '1000')) as string[];
    await source.ask('MIGRATE', '127.0.0.1', String(target.port), '', '0', '5000', 'KEYS', ...keys);
    for (const master of [target, source, ...this.masters])
      await master.ask('CLUSTER', 'SETSLOT', slot, 'NODE', targetId ?? '');
    return target;
  }

  async stop(): Promise<void> {
    await Promise.all(this.masters.map(server => server.stop()));
  }
}

/** By default, a node also listens on a port of those that the system hands out by itself, which may be in use. */
async function startNode(): Promise<{ server: RedisServer; bus: string }> {
  const bus = String(await freePort());
  const settings = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-node-timeout', '1000'];
  return { server: await RedisServer.start(...settings), bus };
}
