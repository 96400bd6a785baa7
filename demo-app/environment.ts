import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The settings from environment variables. An empty variable counts as absent. */
export interface Environment {
  readonly port: number;
  readonly host: string;
  readonly redisUrl: URL | undefined;
  /** The file of orders and keys; undefined: they are in memory. */
  readonly file: string | undefined;
  /** In milliseconds. */
  readonly leaseDuration: number;
}

/** Reads the settings. @throws Error that names the variable to change. */
export function environment({ PORT, HOST, REDIS_URL, SHOP_FILE, LEASE_SECONDS }: NodeJS.ProcessEnv): Environment {
  const redisUrl = REDIS_URL ? redisUrlIn(REDIS_URL) : undefined;
  // By default short, so that nobody waits long for an order whose process was killed.
  const leaseDuration = 1_000 * secondsIn(LEASE_SECONDS || '3');
  const file = fileIn(SHOP_FILE || join(tmpdir(), 'bindonce-shop.db'));
  return { port: portIn(PORT || '3000'), host: HOST || '127.0.0.1', redisUrl, file, leaseDuration };
}

/** Makes the error for a server that cannot listen: the reason, and the variable to change. */
export function listenFailure({ port, host }: Environment, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} is in use. Set PORT to another one: PORT=${otherPort(port)} npm start.`);
    case 'EACCES':
      return new Error(`This user may not listen on port ${port}. Set PORT to one above 1023.`);
    case undefined:
    default:
      return new Error(
        `HOST is "${host}", which the server cannot listen on (${message}). ` +
          'Set HOST to an address of this machine, or leave it out.',
      );
  }
}

/** Older Nodes have no `node:sqlite`; `:memory:` is SQLite's name for no file. */
const fileIn = (path: string): string | undefined =>
  path !== ':memory:' && process.getBuiltinModule('node:sqlite') ? path : undefined;

const otherPort = (port: number): number => (port < 65_535 ? port + 1 : 3_000);

function portIn(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(
    `PORT is "${text}", which is not a port. Set PORT to a number from 0 to 65535; 0 takes any free port.`,
  );
}

function secondsIn(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 3_600) return seconds;
  throw new Error(
    `LEASE_SECONDS is "${text}", which is not a number of seconds. Set LEASE_SECONDS to a whole number from 1 to 3600.`,
  );
}

function redisUrlIn(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '') return url;
  throw new Error(
    `REDIS_URL is "${withoutPassword(text)}", which is not a Redis URL. ` +
      'Write it like redis://localhost:6379, or leave it out to keep orders in a file.',
  );
}

const withoutPassword = (text: string): string => text.replace(/:[^:@]*@/, ':***@');
