import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { environment, listenFailure } from './environment';
import { greeting } from './greeting';
import { Processes } from './processes';

/** Listens, and passes the connections to the processes of the shop: one in memory, else two. */
async function main(): Promise<void> {
  const settings = environment(process.env);
  // Paused, so that nothing is read of a connection before it is passed on.
  const server = createServer({ pauseOnConnect: true }).listen(settings.port, settings.host);
  await once(server, 'listening').catch((error: unknown) => {
    throw listenFailure(settings, error);
  });
  const { port } = server.address() as AddressInfo;
  const place = settings.redisUrl ? 'Redis' : (settings.file ?? 'memory');
  new Processes(place === 'memory' ? 1 : 2, server, () => {
    console.log(greeting(`http://${settings.host}:${port}`, place));
  });
}

main().catch((error: unknown) => {
  console.error(`The shop could not open: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
