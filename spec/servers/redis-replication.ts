import { RedisServer } from './redis-server';

/** Replicas that are in step soon: without this, the master waits five seconds for others that might want the same copy. */
export const PROMPT = ['--repl-diskless-sync-delay', '0'] as const;

/** A replica of a master, in step with it. */
export async function startReplica(master: RedisServer): Promise<RedisServer> {
  const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port), ...PROMPT);
  await replica.answers(/master_link_status:up/, 'INFO', 'replication');
  await master.answers(new RegExp(`port=${replica.port},state=online`), 'INFO', 'replication');
  return replica;
}
