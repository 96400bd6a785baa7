import type { Server, ServerResponse } from 'node:http';
import type { Feed } from './feed';
import type { Storage } from './storage';

/** Milliseconds that running requests may still take: more than a payment and a timeout of the store together. */
const GRACE_PERIOD = 5_000;

/** Ends the process on Ctrl-C and SIGTERM, after the running requests have been answered. */
export function stopOnSignals(server: Server, storage: Storage, feed: Feed): void {
  const running = new Set<ServerResponse>();
  let isStopping = false;
  const end = (): void => {
    // Exits explicitly: commands that wait for an unreachable Redis would keep the process alive.
    storage
      .close()
      .catch(() => undefined)
      .finally(() => process.exit());
  };
  const stop = (): void => {
    // One Ctrl-C arrives several times: from the terminal, from npm, and from the process that has started this one.
    if (isStopping) return;
    isStopping = true;
    server.closeIdleConnections();
    feed.end();
    setTimeout(end, GRACE_PERIOD).unref();
    if (running.size === 0) end();
  };
  // Not `server.close(end)`: it would wait for connections that a browser holds open without sending anything.
  server.on('request', (_req, res) => {
    running.add(res);
    res.once('close', () => {
      running.delete(res);
      if (isStopping && running.size === 0) end();
    });
  });
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
