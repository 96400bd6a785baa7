import { setTimeout as pause } from 'node:timers/promises';
import { freePort, RedisServer } from './redis-server';
import { PROMPT } from './redis-replication';

const SLOTS = 16_384;

/** A real Redis Cluster: three masters, with one replica each where asked for. */
export class RedisCluster {
  private constructor(
    readonly masters: readonly RedisServer[],
    readonly replicas: readonly RedisServer[],
  ) {}

  static async start(hasReplicas = false): Promise<RedisCluster> {
    const nodes = await Promise.all(Array.from({ length: hasReplicas ? 6 : 3 }, startNode));
    const cluster = new RedisCluster(
      nodes.slice(0, 3).map(({ server }) => server),
      nodes.slice(3).map(({ server }) => server),
    );
    for (const [index, master] of cluster.masters.entries()) {
      await master.ask('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
      await master.ask(
        'CLUSTER',
        'ADDSLOTSRANGE',
        String(Math.ceil((index * SLOTS) / 3)),
        String(Math.ceil(((index + 1) * SLOTS) / 3) - 1),
      );
    }
    const [first] = cluster.masters;
    for (const { server, bus } of nodes.slice(1))
      await first?.ask('CLUSTER', 'MEET', '127.0.0.1', String(server.port), bus);
    await Promise.all(cluster.replicas.map(async (replica, index) => replicate(replica, cluster.masters[index])));
    await Promise.all(
      nodes.map(({ server }) =>
        server.answers(new RegExp(`cluster_state:ok[^]*cluster_known_nodes:${nodes.length}`), 'CLUSTER', 'INFO'),
      ),
    );
    if (hasReplicas) await Promise.all(nodes.map(({ server }) => server.answers(/(slave[^]*){3}/, 'CLUSTER', 'NODES')));
    return cluster;
  }

  get addresses(): { host: string; port: number }[] {
    return this.masters.map(({ port }) => ({ host: '127.0.0.1', port }));
  }

  /** The master that has a slot, as the first living node sees it. */
  async masterOf(slot: number): Promise<RedisServer> {
    const ranges = (await this.masters[0]?.ask('CLUSTER', 'SLOTS')) as [
      from: number,
      to: number,
      master: [host: string, port: number],
    ][];
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
    const master = [...this.masters, ...this.replicas].find(server => server.port === port);
    if (!master) throw new Error(`Nobody has slot ${slot}`);
    return master;
  }

  replicaOf(master: RedisServer): RedisServer {
    const replica = this.replicas[this.masters.indexOf(master)];
    if (!replica) throw new Error('This master has no replica');
    return replica;
  }

  async slotOf(key: string): Promise<number> {
    return Number(await this.masters[0]?.ask('CLUSTER', 'KEYSLOT', key));
  }

  /** Moves a slot with what lies in it (redis.io, "CLUSTER SETSLOT"); on the way, its keys are asked for at both nodes. */
  async moveSlot(slot: number, source: RedisServer, target: RedisServer): Promise<void> {
    const [sourceId, targetId] = [
      String(await source.ask('CLUSTER', 'MYID')),
      String(await target.ask('CLUSTER', 'MYID')),
    ];
    await target.ask('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', sourceId);
    await source.ask('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', targetId);
    const keys = (await source.ask('CLUSTER', 'GETKEYSINSLOT', String(slot), '1000')) as string[];
    await source.ask('MIGRATE', '127.0.0.1', String(target.port), '', '0', '5000', 'KEYS', ...keys);
    for (const master of [target, source, ...this.masters])
      await master.ask('CLUSTER', 'SETSLOT', String(slot), 'NODE', targetId);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.masters, ...this.replicas].map(server => server.stop()));
  }
}

async function startNode(): Promise<{ server: RedisServer; bus: string }> {
  const bus = String(await freePort());
  return {
    server: await RedisServer.start(
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      bus,
      '--cluster-node-timeout',
      '1000',
      ...PROMPT,
    ),
    bus,
  };
}

/** A node can replicate another as soon as it has heard of it. */
async function replicate(replica: RedisServer, master: RedisServer | undefined): Promise<void> {
  const id = String(await master?.ask('CLUSTER', 'MYID'));
  while ((await replica.ask('CLUSTER', 'REPLICATE', id).catch(() => undefined)) !== 'OK') await pause(20);
  await replica.answers(/master_link_status:up/, 'INFO', 'replication');
}
