import express, { type Express, type RequestHandler } from 'express';
import { setImmediate as turn } from 'node:timers/promises';
import { bindRequest, dto, file, idempotency, string, type ProblemBody } from '../../lib';
import { held } from '../../lib/body/kept-bytes';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';
import { send, type Listening } from '../support/listen';
import { RawClient } from '../support/raw-client';

class Upload extends dto({ photo: file }) {}
class Note extends dto({ a: string }) {}

const KB = 1_000;
const SIZE = 900 * KB;

const normal = held.bound;
afterEach(() => {
  held.bound = normal;
});

/** Waits until all requests have given back what they held. */
async function nothingHeld(): Promise<void> {
  while (held.weight !== 0) await turn();
}

const ran: RequestHandler = (_req, res) => void res.end('ran');
const bound = (Dto: typeof Upload | typeof Note, uploads?: { storage: 'disk' }): RequestHandler =>
  bindRequest(Dto as typeof Upload, { allowFormData: true, ...(uploads && { uploads }) }) as unknown as RequestHandler;
const app = (): Express =>
  express()
    .post('/memory', bound(Upload), ran)
    .post('/disk', bound(Upload, { storage: 'disk' }), ran)
    .post('/guarded', idempotency(), ran)
    .post('/json', bound(Note), ran);

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

describe.each([
  ['uploads in memory', '/memory', SIZE, 8],
  ['uploads on disk', '/disk', SIZE, 1],
  ['bodies of idempotency() in memory', '/guarded', SIZE, 8],
  ['bodies of idempotency() on disk', '/guarded', 2_000 * KB, 1],
] as const)('%s', (_what, path, size, weight) => {
  const large = formOf(size);
  const length = large.body.length - 1;

  it('of 16 clients that stop before the last byte are held as fit, the next is refused with 503, small ones are served', async () => {
    held.bound = 4.5 * length * weight;
    const listening = await serve(app());
    const { url } = listening;
    const clients = await Promise.all(
      Array.from({ length: 16 }, (_, index) => almostSent(path, listening, index, size)),
    );
    const refused = (): number => clients.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length;
    while (held.weight !== (16 - refused()) * length * weight) await turn();
    expect(16 - refused()).toBe(4);
    const post = (key: string) =>
      send(`${url}${path}`, { headers: { 'Idempotency-Key': key, ...large.headers }, body: large.body });
    const answer = await post('next');
    const { type } = JSON.parse(answer.text) as ProblemBody;
    expect([answer.status, answer.headers['retry-after'], type]).toEqual([503, '10', 'urn:bindonce:server-busy']);
    held.bound = held.weight;
    const small = { 'Idempotency-Key': 'small', 'Content-Type': 'application/json' };
    expect((await send(`${url}/guarded`, { headers: small, body: '{}' })).status).toBe(200);
    expect((await send(`${url}/json`, { headers: small, body: '{"a":"x"}' })).status).toBe(200);
    for (const client of clients) client.leave();
    await nothingHeld();
    held.bound = normal;
    expect((await post('later')).status).toBe(200);
    await nothingHeld();
  });
});

it.each([
  ['in memory', 1_000, 8],
  ['on disk, also if it is sent in chunks', SIZE * 2, 1],
])('a body %s is held until its exchange is over, not until it is complete', async (_where, size, weight) => {
  let during = 0;
  const { url } = await serve(
    express().post('/', idempotency(), (_req, res) => {
      during = held.weight;
      res.end();
    }),
  );
  await send(url, { headers: { 'Idempotency-Key': 'k', 'Transfer-Encoding': 'chunked' }, body: Buffer.alloc(size) });
  expect(during).toBe(size * weight);
  await nothingHeld();
});

it('a form in memory may have 16 MiB unless limits.formBytes says otherwise; on disk, 100 MiB', async () => {
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
