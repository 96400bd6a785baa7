import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { idempotency } from '../../lib';
import { delayClose, onClosing } from '../../lib/http/delayed-close';
import { DuplexConnection } from '../support/duplex-connection';

/** The two ends of a connection. */
async function connection(): Promise<[near: Socket, far: Socket]> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as { port: number }).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return [near, far];
}

describe('a connection whose closing is delayed', () => {
  it.each(['destroy', 'destroySoon', 'end'] as const)(
    'stays open when %s() is called, until the delay ends',
    async way => {
      const [near, far] = await connection();
      let asked = 0;
      const stop = delayClose(near, () => asked++);
      near[way]();
      expect([asked, near.destroyed, near.writable]).toEqual([1, false, true]);
      stop();
      near[way]();
      far.resume();
      await once(far, 'end');
      near.destroy();
      far.destroy();
    },
  );

  it('stays open when other code has replaced the methods since the last delay, or removed the replacements', async () => {
    const [near, far] = await connection();
    const rounds: (() => void)[] = [
      () => undefined,
      () => {
        const { destroy } = near;
        near.destroy = error => destroy.call(near, error);
      },
      () => Reflect.deleteProperty(near, 'destroy'),
    ];
    let asked = 0;
    for (const change of rounds) {
      change();
      const stop = delayClose(near, () => asked++);
      near.destroy();
      stop();
    }
    expect([asked, near.destroyed]).toEqual([3, false]);
    near.destroy();
    far.destroy();
  });
});

it('stays open for the response that delays it now when an earlier one ends its delay late', async () => {
  const [near, far] = await connection();
  const asked: string[] = [];
  const stopEarlier = delayClose(near, () => asked.push('earlier'));
  const stopLater = delayClose(near, () => asked.push('later'));
  stopEarlier();
  near.destroy();
  expect([asked, near.destroyed]).toEqual([['later'], false]);
  stopLater();
  near.destroy();
  expect(near.destroyed).toBe(true);
  far.destroy();
});

it('has one replacement of a method, also if other code replaces it now and then, and puts it back', async () => {
  const [near, far] = await connection();
  const found = new Set<unknown>();
  for (let round = 0; round < 20; round++) {
    const { destroy } = near;
    found.add(destroy);
    const isOthers = round % 2 === 1;
    if (isOthers) near.destroy = error => destroy.call(near, error);
    delayClose(near, () => undefined)();
    if (isOthers) near.destroy = destroy;
  }
  expect(found.size).toBeLessThanOrEqual(2);
  near.destroy();
  far.destroy();
});

it('closes a connection that is not a socket after a guarded request that asks for it', async () => {
  const guard = idempotency();
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    guard(req, res, () => {
      res.end('ran');
    });
  });
  const connection = new DuplexConnection();
  server.emit('connection', connection);
  connection.push('POST / HTTP/1.1\r\nHost: a\r\nIdempotency-Key: duplex\r\nConnection: close\r\n\r\n');
  await connection.ended;
  expect(connection.written).toMatch(/^HTTP\/1\.1 200 OK[^]*ran/);
});

it.each(['destroy', 'destroySoon', 'end'] as const)(
  'tells of a connection that %s() closes it, before it emits close, unless that is cancelled',
  async way => {
    const [near, far] = await connection();
    const told: unknown[] = [];
    near.once('close', () => told.push('close'));
    onClosing(near, () => told.push(near.writable));
    onClosing(near, () => told.push('cancelled'))();
    near[way]();
    expect(told[0]).toBe(false);
    expect(told).not.toContain('close');
    expect(told).not.toContain('cancelled');
    near.destroy();
    far.destroy();
  },
);

it('tells nothing of a connection whose closing is delayed', async () => {
  const [near, far] = await connection();
  let told = 0;
  onClosing(near, () => told++);
  const stop = delayClose(near, () => undefined);
  near.destroy();
  expect(told).toBe(0);
  stop();
  near.destroy();
  expect(told).toBeGreaterThan(0);
  far.destroy();
});
