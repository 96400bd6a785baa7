import type { NodeRedisClient } from './node-redis-client';

/** What node-redis 5 has for moving connections from one server to another. */
interface Pausable extends NodeRedisClient {
  _pause(): void;
  _unpause(): void;
}

const inStep = new WeakSet<NodeRedisClient>();

/**
 * Keeps a client of node-redis 5 from losing count of its answers, or from answering no more, when its connection breaks.
 * It writes commands a turn of the event loop after they are given; if the connection breaks in between, it writes them to
 * the closed socket and counts them as sent on the next one, where they take the answers of others. A client that is paused
 * from the one connection to the next writes nothing. (Version 6 looks at the socket before it writes.)
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
