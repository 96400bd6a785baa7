import express, { type Express } from 'express';
import { tmpdir } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { bindRequest, dto, file, idempotency, string, type ProblemBody } from '../../../lib';
import { filesHeldIn } from '../../../lib/body/stream/held-in';
import { held, type HeldIn } from '../../../lib/body/stream/holding';
import { fakeIntervals } from '../../support/fake-intervals';
import { multipart } from '../../support/multipart';
import { serve } from '../../support/serve';
import { send, type Listening } from '../../support/listen';
import { RawClient } from '../../support/raw-client';

class Upload extends dto({ photo: file }) {}
class Note extends dto({ a: string }) {}

const bounds = { ...held.bounds };
const KB = 1_000;
/** The temporary folder of many systems is in memory. */
const FOLDER = filesHeldIn(tmpdir());
beforeEach(() => {
  Object.assign(held.bounds, { memory: 4_000 * KB, [FOLDER]: 8_000 * KB });
});
afterEach(() => {
  Object.assign(held.bounds, bounds);
});

const NOTHING: Readonly<Record<HeldIn, number>> = { memory: 0, ramDisk: 0, disk: 0 };

/** Waits until all requests have given back what they held. */
async function nothingHeld(): Promise<void> {
  while (Object.values(held.bytes).some(bytes => bytes !== 0)) await turn();
}

const app = (): Express =>
  express()
    .post('/memory', bindRequest(Upload, { allowFormData: true }), (_req, res) => {
      res.end('ran');
    })
    .post('/disk', bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk' } }), (_req, res) => {
      res.end('ran');
    })
    .post('/guarded', idempotency(), (_req, res) => {
      res.end('ran');
    })
    .post('/json', bindRequest(Note), (_req, res) => {
      res.end('ran');
    });

const SIZE = 900 * KB;

const formOf = (size: number) =>
  multipart([{ name: 'photo', filename: 'a.png', value: Buffer.alloc(size, 'x') }], 'b1');

/** A client that sends all of a form but the last byte. */
async function almostSent(path: string, { port }: Listening, index: number, size: number): Promise<RawClient> {
  const { body } = formOf(size);
  const client = new RawClient(port);
  await client.send(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: ${path}${index}\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  await client.send(body.subarray(0, -1));
  return client;
}

/** Such clients, one after the other: each waits until its bytes are held, or refused. */
async function stopped(
  path: string,
  where: HeldIn,
  listening: Listening,
  count: number,
  size: number,
): Promise<RawClient[]> {
  const { body } = formOf(size);
  const clients: RawClient[] = [];
  for (let index = 0; index < count; index++) {
    const before = held.bytes[where];
    const client = await almostSent(path, listening, index, size);
    clients.push(client);
    while (held.bytes[where] < before + body.length - 1 && (await client.status(1)) === undefined) await turn();
  }
  return clients;
}

describe.each([
  ['uploads in memory', '/memory', 'memory', SIZE],
  ['uploads on disk', '/disk', FOLDER, SIZE],
  ['bodies of idempotency() in memory', '/guarded', 'memory', SIZE],
  ['bodies of idempotency() on disk', '/guarded', FOLDER, 2_000 * KB],
] as const)('%s', (_what, path, where, size) => {
  it('of 16 clients that stop before the last byte hold no more than the process may, and the next is refused with 503', async () => {
    const listening = await serve(app());
    const { url } = listening;
    const clients = await stopped(path, where, listening, 16, size);
    const waiting = Math.floor(held.bounds[where] / (size + 1));
    const statuses = await Promise.all(clients.map((client, index) => client.status(index < waiting ? 1 : 30_000)));
    expect(statuses).toEqual([...Array<undefined>(waiting).fill(undefined), ...Array<number>(16 - waiting).fill(503)]);
    expect(held.bytes[where]).toBeLessThanOrEqual(held.bounds[where]);
    const large = formOf(size);
    const answer = await send(`${url}${path}`, {
      headers: { 'Idempotency-Key': 'next', ...large.headers },
      body: large.body,
    });
    const { type } = JSON.parse(answer.text) as ProblemBody;
    expect([answer.status, answer.headers['retry-after'], type]).toEqual([503, '10', 'urn:bindonce:server-busy']);
    // Small requests are served all the same.
    const small = { 'Idempotency-Key': 'small', 'Content-Type': 'application/json' };
    expect((await send(`${url}/guarded`, { headers: small, body: '{}' })).status).toBe(200);
    expect((await send(`${url}/json`, { headers: small, body: '{"a":"x"}' })).status).toBe(200);
    for (const client of clients) client.leave();
    await nothingHeld();
    expect(
      (await send(`${url}${path}`, { headers: { 'Idempotency-Key': 'later', ...large.headers }, body: large.body }))
        .status,
    ).toBe(200);
    await nothingHeld();
  });
});

it.each([
  ['uploads in memory', '/memory', 'memory', SIZE],
  ['uploads on disk', '/disk', FOLDER, SIZE],
  ['bodies of idempotency() in memory', '/guarded', 'memory', SIZE],
  ['bodies of idempotency() on disk', '/guarded', FOLDER, 2_000 * KB],
] as const)(
  'of 16 clients that send at the same time, as many %s are held as fit',
  async (_what, path, where, size) => {
    const listening = await serve(app());
    const length = formOf(size).body.length - 1;
    const clients = await Promise.all(
      Array.from({ length: 16 }, (_, index) => almostSent(path, listening, index, size)),
    );
    const refused = (): number => clients.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length;
    while (held.bytes[where] !== (16 - refused()) * length) await turn();
    expect(16 - refused()).toBe(Math.floor(held.bounds[where] / length));
    for (const client of clients) client.leave();
    await nothingHeld();
  },
);

it('bodies on a RAM disk and in memory are bounded together', async () => {
  Object.assign(held.bounds, { memory: 4_000 * KB, ramDisk: 4_000 * KB });
  const onRamDisk = bindRequest(Upload, { allowFormData: true, uploads: { storage: 'disk', directory: '/dev/shm' } });
  const listening = await serve(
    app().post('/ram-disk', onRamDisk, (_req, res) => {
      res.end('ran');
    }),
  );
  const clients = await stopped('/ram-disk', 'ramDisk', listening, 2, SIZE);
  clients.push(...(await stopped('/memory', 'memory', listening, 3, SIZE)));
  const statuses = await Promise.all(clients.map((client, index) => client.status(index < 4 ? 1 : 5_000)));
  expect(statuses).toEqual([undefined, undefined, undefined, undefined, 503]);
  const { headers, body } = formOf(SIZE);
  const post = async (path: string) => (await send(`${listening.url}${path}`, { headers, body })).status;
  expect([await post('/ram-disk'), await post('/memory'), await post('/disk')]).toEqual([
    503,
    503,
    FOLDER === 'disk' ? 200 : 503,
  ]);
  for (const client of clients) client.leave();
  await nothingHeld();
  expect([await post('/ram-disk'), await post('/memory')]).toEqual([200, 200]);
  await nothingHeld();
});

it('the bytes that a request holds are given back when its exchange is over, not when its body is complete', async () => {
  let during = 0;
  const { url } = await serve(
    express().post('/', idempotency(), (_req, res) => {
      during = held.bytes.memory;
      res.end();
    }),
  );
  await send(url, { headers: { 'Idempotency-Key': 'k', 'Content-Type': 'text/plain' }, body: 'x'.repeat(1_000) });
  expect(during).toBe(1_000);
  await nothingHeld();
});

it('the fields of a form are held while idempotency() compares them, and no longer', async () => {
  const field = (name: string) => ({ name, value: 'x'.repeat(1_000 * KB) });
  const { body, headers } = multipart([field('a'), field('b'), field('c')], 'b1');
  let during: typeof held.bytes | undefined;
  const { url } = await serve(
    express().post('/', idempotency(), (_req, res) => {
      during = { ...held.bytes };
      res.end();
    }),
  );
  const post = async (key: string): Promise<number | undefined> =>
    (await send(url, { headers: { 'Idempotency-Key': key, ...headers }, body })).status;
  expect([await post('a'), during]).toEqual([200, { ...NOTHING, [FOLDER]: body.length }]);
  await nothingHeld();
  Object.assign(held.bounds, { memory: 2_500 * KB });
  expect(await post('b')).toBe(503);
  await nothingHeld();
});

it('a body that declares its length waits on disk before it fills memory', async () => {
  const listening = await serve(app());
  const client = new RawClient(listening.port);
  await client.send('POST /guarded HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 1048577\r\n\r\n');
  await client.send(Buffer.alloc(500 * KB));
  while (held.bytes[FOLDER] < 500 * KB) await turn();
  expect(held.bytes).toEqual({ ...NOTHING, [FOLDER]: 500 * KB });
  client.leave();
  await nothingHeld();
});

it('a body whose request has been answered meanwhile is not held', async () => {
  let answer = (): void => undefined;
  const { port } = await serve(
    express().post(
      '/',
      (_req, res, next) => {
        answer = () => {
          res.status(503).end();
        };
        next();
      },
      idempotency(),
      (_req, res) => {
        res.end('ran');
      },
    ),
  );
  const client = new RawClient(port);
  await client.send('POST / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 1000000\r\n\r\n');
  await client.send(Buffer.alloc(100_000));
  while (held.bytes.memory === 0) await turn();
  answer();
  expect(await client.status(10_000)).toBe(503);
  await nothingHeld();
  await client.send(Buffer.alloc(200_000));
  for (let round = 0; round < 20; round++) await turn();
  expect(held.bytes.memory).toBe(0);
  client.leave();
});

it('a form in memory may have 16 MiB unless limits.formBytes says otherwise; on disk, 100 MiB', async () => {
  Object.assign(held.bounds, bounds);
  const statusOf = async (path: string, bytes: number): Promise<number | undefined> => {
    const { port } = await serve(app());
    const client = new RawClient(port);
    await client.send(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${bytes}\r\n\r\n`,
    );
    const status = await client.status(
      bytes === 16_777_216 || (path === '/disk' && bytes <= 104_857_600) ? 100 : 30_000,
    );
    client.leave();
    return status;
  };
  expect([
    await statusOf('/memory', 16_777_216),
    await statusOf('/memory', 16_777_217),
    await statusOf('/disk', 104_857_600),
    await statusOf('/disk', 104_857_601),
  ]).toEqual([undefined, 413, undefined, 413]);
});

it('a refused client that sends no more loses its connection, and one that sends the rest keeps it', async () => {
  fakeIntervals();
  const { port } = await serve(app());
  const head = `POST /memory HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: 20000000\r\n\r\n`;
  const [stopping, going] = [new RawClient(port), new RawClient(port)];
  await Promise.all([stopping.send(head), going.send(head)]);
  expect([await stopping.status(10_000), await going.status(10_000)]).toEqual([413, 413]);
  await going.send(Buffer.alloc(20_000_000));
  const sendNext = async (): Promise<void> => {
    going.text = '';
    await going.send(
      'POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":"x"}',
    );
    while (!going.text.endsWith('ran')) await turn();
  };
  await sendNext();
  jest.advanceTimersByTime(10_000);
  await stopping.closed();
  await sendNext();
  going.leave();
});
