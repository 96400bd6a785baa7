import type { NodeRedisClient } from './node-redis-client';

/** The methods of node-redis 5 for moving a connection from one server to another. */
interface Pausable extends NodeRedisClient {
  _pause(): void;
  _unpause(): void;
}

const inStep = new WeakSet<NodeRedisClient>();

/**
 * Keeps a client of node-redis 5 from losing count of its answers, or from answering no more, when its connection
 * breaks. It writes commands one turn of the event loop after they are given. If the connection breaks in between, it
 * writes them to the closed socket and counts them as sent on the next one, where they take the answers of others. A
 * client that is paused between two connections writes nothing. (Version 6 checks the socket before it writes.)
 */
export function keepInStep(client: NodeRedisClient): void {
  if (inStep.has(client) || !isPausable(client)) return;
  inStep.add(client);
  client.on('reconnecting', () => {
    client._pause();
  });
  client.on('connect', () => {
    client._unpause();
  });
}

function isPausable(client: NodeRedisClient): client is Pausable {
  return '_pause' in client && '_unpause' in client;
}
