import type { Server, ServerResponse } from 'node:http';
import type { Storage } from './storage';

/** Milliseconds that requests have to end: more than a payment and a time-out of the store take together. */
const PATIENCE = 5_000;

/** On Ctrl-C and SIGTERM, requests that have begun are finished and answered; then the process ends. */
export function stopOnSignals(server: Server, storage: Storage): void {
  const running = new Set<ServerResponse>();
  let isStopping = false;
  const end = (): void => {
    // What still waits for a Redis that is not there would keep the process alive.
    storage
      .close()
      .catch(() => undefined)
      .finally(() => process.exit());
  };
  const stop = (): void => {
    // One Ctrl-C arrives twice under `npm start`: from the terminal and from npm.
    if (isStopping) return;
    isStopping = true;
    server.close();
    setTimeout(end, PATIENCE).unref();
    if (running.size === 0) end();
  };
  // Not `server.close(end)`: a browser may hold connections open that it has sent nothing on.
  server.on('request', (_req, res) => {
    running.add(res);
    res.once('close', () => {
      running.delete(res);
      if (isStopping && running.size === 0) end();
    });
  });
  process.on('SIGTERM', stop).on('SIGINT', stop);
}
