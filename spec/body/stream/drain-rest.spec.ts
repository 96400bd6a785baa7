import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { DuplexConnection } from '../../support/duplex-connection';
import express from 'express';
import { bindRequest, dto, file, idempotency, problemDetails, type BindingOptions } from '../../../lib';
import { serve } from '../../support/serve';

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
