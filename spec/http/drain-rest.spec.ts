import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { DuplexConnection } from '../support/duplex-connection';
import express from 'express';
import {
  bindRequest,
  dto,
  file,
  idempotency,
  problemDetails,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../lib';
import { HookedLeases } from '../support/hooked-leases';
import { keyed } from '../support/replays';
import { RawClient } from '../support/raw-client';
import { send } from '../support/listen';
import { serve } from '../support/serve';
import { signal } from '../support/signal';

class Upload extends dto({ file }) {}

const BYTES = 3_000_000;
const options: BindingOptions = { allowFormData: true, limits: { formBytes: 1_000 } };
const app = () =>
  express()
    .post('/streamed', bindRequest(Upload, options))
    .post('/guarded', idempotency({ maxRequestBytes: 1_000 }))
    .use(problemDetails());

describe.each(['/streamed', '/guarded'])('a client of %s that is refused while it sends', path => {
  it.each([
    ['closes the connection', 'Connection: close\r\n'],
    ['keeps it', ''],
  ])('can send all before it reads the response, and %s', async (_title, connection) => {
    const { port } = await serve(app());
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', chunk => {
      text += chunk.toString('latin1');
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\n${connection}` +
        `Content-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${BYTES}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(BYTES / 2));
    while (!text.includes('}')) await once(socket, 'data');
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    // With an error, an event listener would reject.
    if (connection) await once(socket, 'end');
    for (let sent = BYTES / 2; sent < BYTES; sent += 100_000) {
      const written = new Promise(resolve => socket.write(Buffer.alloc(100_000), resolve));
      expect(await written).toBeFalsy();
    }
    const closed = once(socket, 'close') as Promise<[hadError: boolean]>;
    socket.end();
    expect(await closed).toEqual([false]);
  });
});

it('a connection that is kept gets its methods back after a refused upload, also if listeners are bound to a context', async () => {
  const over = signal<string[]>();
  const bound = app();
  const server = await serve((req, res) => {
    const { on } = req;
    // As OpenTelemetry does it.
    req.on = function (this: typeof req, event: string, listener: (...args: unknown[]) => void) {
      return on.call(this, event, (...args: unknown[]) => {
        listener.apply(this, args);
      });
    } as typeof on;
    const own = (): string => String(Object.getOwnPropertyDescriptor(req.socket, 'destroySoon')?.value);
    const before = own();
    req.once('close', () => {
      setImmediate(() => {
        over.happens([before, own()]);
      });
    });
    bound(req, res);
  });
  const client = new RawClient(server.port);
  await client.send(
    'POST /streamed HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b1\r\n' +
      `Content-Length: ${BYTES}\r\n\r\n`,
  );
  await client.send(Buffer.alloc(BYTES / 2));
  expect(await client.status(60_000)).toBe(413);
  await client.send(Buffer.alloc(BYTES / 2));
  const [before, after] = await over.happened;
  expect(after).toBe(before);
});

it('a connection that is not a socket is closed after a refused request', async () => {
  const server = createServer(express().post('/', idempotency({ maxRequestBytes: 2 })));
  const connection = new DuplexConnection();
  server.emit('connection', connection);
  connection.push(
    'POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc',
  );
  await connection.reads('}');
  connection.push('def');
  await connection.ended;
  expect(connection.written).toMatch(/^HTTP\/1\.1 413 /);
});

describe('a client that sends a whole upload before it reads', () => {
  /** More than the operating system keeps of what was not read, in either direction. */
  const LONG = 16_000_000;
  const guard: IdempotencyOptions = {
    ignoreRequestBody: true,
    whenKeyReused: 'reject',
    whenInFlight: 'reject',
    maxResponseBytes: LONG,
  };
  const down = (): Promise<never> => Promise.reject(new Error('down'));

  /** Serves early answers, each after what has to be before it. */
  const served = async () => {
    const running = signal();
    const app = express()
      .post('/done', idempotency(guard), (req, res) => {
        res.status(201).send(req.query['long'] ? Buffer.alloc(LONG, 'x') : 'done');
      })
      .post('/running', idempotency(guard), () => {
        running.happens();
      })
      .post('/down', idempotency({ ...guard, leases: new HookedLeases({ acquire: down }) }))
      .post('/reads', idempotency())
      .post('/bound', bindRequest(Upload, { ...options, allowAnonymous: false }));
    const { url, port } = await serve(app.use(problemDetails()));
    await send(`${url}/done`, { headers: keyed('k') });
    await send(`${url}/done?long=1`, { headers: keyed('long') });
    void send(`${url}/running`, { headers: keyed('r') }).catch(() => undefined);
    await running.happened;
    return port;
  };

  const upload = async (port: number, path: string, key: string, connection: string): Promise<RawClient> => {
    const client = new RawClient(port);
    client.socket.pause();
    await client.send(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${key && `Idempotency-Key: ${key}\r\n`}` +
        `Connection: ${connection}\r\nContent-Type: image/png\r\nContent-Length: ${LONG}\r\n\r\n`,
    );
    for (let sent = 0; sent < LONG; sent += LONG / 16) await client.send(Buffer.alloc(LONG / 16));
    client.socket.resume();
    return client;
  };

  it.each([
    ['a replay', '/done', 'k', 201],
    ['a long replay', '/done?long=1', 'long', 201],
    ['a 400, where the guard does not read bodies,', '/done', '', 400],
    ['a 400, where it does,', '/reads', '', 400],
    ['a 409', '/running', 'r', 409],
    ['a 422', '/done?other', 'k', 422],
    ['a 503', '/down', 'k', 503],
    ['a 401 of bindRequest()', '/bound', '', 401],
  ])('gets %s although the connection is closed after it', async (_what, path, key, status) => {
    const client = await upload(await served(), path, key, 'close');
    await client.closed();
    expect(client.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*[}ex]$`, 's'));
    if (path.includes('long')) expect(client.text.length).toBeGreaterThan(LONG);
  });

  it('gets a long replay on a connection that is kept, and the next response', async () => {
    const client = await upload(await served(), '/done?long=1', 'long', 'keep-alive');
    client.socket.write('POST /reads HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await client.closed();
    expect(client.text).toMatch(/^HTTP\/1\.1 201 .*xHTTP\/1\.1 400 .*}$/s);
  });
});
