import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { idempotency } from '../../lib';
import { onConnectionClose } from '../../lib/http/connection-close';
import { serve } from '../support/serve';
import { send } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';

/** A connection of which both ends are in hand. */
async function connection(): Promise<{ readonly client: Socket; readonly socket: Socket }> {
  const { port, server } = await serve((_req, res) => {
    res.end();
  });
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  const [socket] = await connected;
  return { client, socket };
}

describe('a connection that closes', () => {
  it('is told once and in order to all listeners, but not to those that have stopped', async () => {
    const { client, socket } = await connection();
    const told: string[] = [];
    const [stopFirst] = ['first', 'second', 'third'].map(name =>
      onConnectionClose(socket, () => {
        told.push(name);
      }),
    );
    stopFirst?.();
    stopFirst?.();
    const closed = once(socket, 'close');
    client.destroy();
    await closed;
    expect(told).toEqual(['second', 'third']);
  });

  it('is told to all the others where one of them stops when it is told', async () => {
    const { client, socket } = await connection();
    const told: string[] = [];
    const stop = onConnectionClose(socket, () => {
      told.push('first');
      stop();
    });
    onConnectionClose(socket, () => {
      told.push('second');
    });
    const closed = once(socket, 'close');
    client.destroy();
    await closed;
    expect(told).toEqual(['first', 'second']);
  });

  it('has one listener, however many wait for it', async () => {
    const { socket } = await connection();
    const before = socket.listenerCount('close');
    const stops = Array.from({ length: 100 }, () => onConnectionClose(socket, () => undefined));
    expect(socket.listenerCount('close')).toBe(before + 1);
    for (const stop of stops) stop();
    onConnectionClose(socket, () => undefined);
    expect(socket.listenerCount('close')).toBe(before + 1);
  });
});

/** Requests as text, one after the other; each has a key of its own. */
const pipeline = (count: number, path: string, body = ''): string[] =>
  Array.from(
    { length: count },
    (_, index) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k${index}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );

/** Sends requests without waiting for an answer, and leaves the connection open when all are answered. */
async function askAll(port: number, requests: readonly string[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  let answered = 0;
  let rest = '';
  const all = new Promise<void>(resolve => {
    socket.on('data', chunk => {
      const pieces = `${rest}${chunk.toString('latin1')}`.split('HTTP/1.1 200 OK');
      rest = pieces.at(-1)?.slice(-14) ?? '';
      answered += pieces.length - 1;
      if (answered === requests.length) resolve();
    });
  });
  socket.write(requests.join(''));
  await all;
  return socket;
}

describe('pipelined requests', () => {
  let server: NodeProcess | undefined;
  afterEach(() => server?.kill());

  it.each<[string, number, number]>([
    ['100', 100, 0],
    ['15, each with a body that is spooled to disk,', 15, 1_100_000],
  ])('%s add two listeners to their connection', async (_title, count, size) => {
    const most = { '/bare': 0, '/guarded': 0 };
    const waiting: (() => void)[] = [];
    // Answered when all have arrived, so that none has gone when the last is counted.
    const handler: RequestHandler = (req, res) => {
      most[req.path as keyof typeof most] = Math.max(
        most[req.path as keyof typeof most],
        req.socket.listenerCount('close'),
      );
      waiting.push(() => res.end());
      if (waiting.length === count) for (const answer of waiting.splice(0)) answer();
    };
    const { port } = await serve(
      express()
        .post('/bare', express.text({ limit: '2mb' }), handler)
        .post('/guarded', idempotency(), handler),
    );
    for (const path of Object.keys(most)) (await askAll(port, pipeline(count, path, 'x'.repeat(size)))).destroy();
    expect(most['/guarded'] - most['/bare']).toBeLessThanOrEqual(2);
  });

  it('leave nothing behind in memory once they are answered, nor a warning', async () => {
    const COUNT = 10_000;
    server = await NodeProcess.start(join(__dirname, '../support/programs/heavy-server.mjs'), {
      OPTIONS: JSON.stringify({ cacheDuration: 1, maxResponseBytes: 1 }),
    });
    const { url, output } = server;
    const used = async (): Promise<number> =>
      (JSON.parse((await send(`${url}/memory`, { method: 'GET' })).text) as { used: number }).used;
    const port = Number(new URL(url).port);
    (await askAll(port, pipeline(1_000, '/upload'))).destroy();
    const before = await used();
    const socket = await askAll(port, pipeline(COUNT, '/upload'));
    const kept = (await used()) - before;
    socket.destroy();
    // A request and its response take more than 10 KB.
    expect(kept).toBeLessThan(COUNT * 1_500);
    expect(output).toEqual([expect.stringContaining('listening')]);
  });
});
