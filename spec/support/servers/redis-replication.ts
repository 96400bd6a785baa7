import { setTimeout as pause } from 'node:timers/promises';
import { RedisServer } from './redis-server';

/** Replicas that are in step soon: without this, the master waits five seconds for others that might want the same copy. */
export const PROMPT = ['--repl-diskless-sync-delay', '0'] as const;

/** A replica of a master, in step with it. */
export async function startReplica(master: RedisServer): Promise<RedisServer> {
  const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(master.port), ...PROMPT);
  // A replica calls itself up to a second before the first write reaches it.
  const mark = `replica ${replica.port}`;
  await master.ask('SET', mark, 'reached');
  await replica.answers(/^reached$/, 'GET', mark);
  await master.ask('DEL', mark);
  return replica;
}

/** Waits until a replica has all that its master has written. */
export async function inStep(master: RedisServer, replica: RedisServer): Promise<void> {
  const [, offset = ''] = /master_repl_offset:(\d+)/.exec(String(await master.ask('INFO', 'replication'))) ?? [];
  while (Number(/slave_repl_offset:(\d+)/.exec(String(await replica.ask('INFO', 'replication')))?.[1]) < Number(offset))
    await pause(10);
}

/** Stops a replica and breaks its connection: what its master writes from now on does not even lie in the network for it. */
export async function cutOff(master: RedisServer, replica: RedisServer): Promise<void> {
  replica.pause();
  await master.ask('CLIENT', 'KILL', 'TYPE', 'replica');
}
