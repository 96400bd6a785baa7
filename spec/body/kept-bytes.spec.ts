import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { bindRequest, dto, file, idempotency, string } from '../../lib';
import { held } from '../../lib/body/kept-bytes';
import { guarded } from '../support/guarded';
import { send } from '../support/listen';
import { multipart } from '../support/multipart';
import { RawClient } from '../support/raw-client';
import { serve } from '../support/serve';
import { signal } from '../support/signal';

const KB = 1_000;

/** The open temporary files of this process that begin with a mark, also those that have no names any more. */
function spooled(mark: string): string[] {
  const beginsWith = (path: string): boolean => {
    const opened = openSync(path, 'r');
    const beginning = Buffer.alloc(mark.length);
    readSync(opened, beginning);
    closeSync(opened);
    return String(beginning) === mark;
  };
  return readdirSync('/proc/self/fd')
    .map(descriptor => `/proc/self/fd/${descriptor}`)
    .filter(path => {
      try {
        return readlinkSync(path).startsWith(`${tmpdir()}/bindonce-`) && beginsWith(path);
      } catch {
        return false;
      }
    });
}

/** Nobody is told when a temporary file is gone, so this looks again and again, until the spec's time is over. */
async function noneLeft(mark: string): Promise<void> {
  while (spooled(mark).length > 0) await pause(5);
}

/** A request with a body of 3 MB, which begins with its mark. */
function upload() {
  const mark = randomBytes(16).toString('hex');
  return { mark, key: mark, body: mark.padEnd(3_000 * KB, 'x') };
}
const begun = async (port: number, { key, body }: ReturnType<typeof upload>, sent: number): Promise<RawClient> => {
  const client = new RawClient(port);
  const head = `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n`;
  await client.send(head + body.slice(0, sent));
  return client;
};

describe('a body that is too large for memory', () => {
  it('is in one file without a name, that only its owner can read, while the handler runs, and gone after the response', async () => {
    const { mark, ...sent } = upload();
    let seen: unknown[] = [];
    const { post } = await guarded({}, (_req, res) => {
      seen = spooled(mark).map(path => [statSync(path).mode & 0o777, statSync(path).nlink, readlinkSync(path)]);
      res.end();
    });
    await post(sent);
    expect(seen).toEqual([[0o600, 0, expect.stringMatching(/ \(deleted\)$/)]]);
    await noneLeft(mark);
  });

  it('is gone after the client hung up while sending it', async () => {
    const sent = upload();
    const { port } = await guarded();
    const client = await begun(port, sent, 2_500 * KB);
    while (spooled(sent.mark).length === 0) await pause(5);
    client.leave();
    await noneLeft(sent.mark);
  });

  it('is gone after the client hung up while the handler ran, once that has ended', async () => {
    const { mark, ...sent } = upload();
    const [running, gone] = [signal(), signal()];
    const { port, post, log } = await guarded({}, async (req, res) => {
      req.socket.once('close', gone.happens);
      running.happens();
      await gone.happened;
      res.send(String(spooled(mark).length));
    });
    const client = await begun(port, { mark, ...sent }, Infinity);
    await running.happened;
    client.leave();
    await log.first('executed');
    await noneLeft(mark);
    expect((await post(sent)).text).toBe('1');
  });
});

describe('what requests hold', () => {
  class Upload extends dto({ photo: file }) {}
  class Note extends dto({ a: string }) {}
  const normal = held.bound;
  afterEach(() => {
    held.bound = normal;
  });
  /** Waits until all requests have given back what they held. */
  const nothingHeld = async (): Promise<void> => {
    while (held.weight !== 0) await turn();
  };

  const ran: RequestHandler = (_req, res) => void res.end('ran');
  const bound = (Dto: typeof Upload | typeof Note, uploads?: { storage: 'disk' }): RequestHandler =>
    bindRequest(Dto as typeof Upload, {
      allowFormData: true,
      ...(uploads && { uploads }),
    }) as unknown as RequestHandler;
  const served = () =>
    serve(
      express()
        .post('/memory', bound(Upload), ran)
        .post('/disk', bound(Upload, { storage: 'disk' }), ran)
        .post('/guarded', idempotency(), ran)
        .post('/json', bound(Note), ran),
    );
  const headOf = (path: string, key: string, bytes: number): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: ${key}\r\nContent-Type: multipart/form-data; boundary=b1\r\nContent-Length: ${bytes}\r\n\r\n`;

  it.each([
    ['uploads in memory', '/memory', 900 * KB, 8],
    ['uploads on disk', '/disk', 900 * KB, 1],
    ['bodies of idempotency() in memory', '/guarded', 900 * KB, 8],
    ['bodies of idempotency() on disk', '/guarded', 2_000 * KB, 1],
  ])(
    '%s: of 16 clients that stop before the last byte are held as fit, the next is refused with 503, small ones are served',
    async (_what, path, size, weight) => {
      const large = multipart([{ name: 'photo', filename: 'a.png', value: Buffer.alloc(size, 'x') }], 'b1');
      const length = large.body.length - 1;
      held.bound = 4.5 * length * weight;
      const { url, port } = await served();
      const clients = await Promise.all(
        Array.from({ length: 16 }, async (_, index) => {
          const client = new RawClient(port);
          await client.send(headOf(path, `${index}`, large.body.length));
          await client.send(large.body.subarray(0, -1));
          return client;
        }),
      );
      const waiting = (): number => clients.filter(({ text }) => !text.startsWith('HTTP/1.1 503')).length;
      while (held.weight !== waiting() * length * weight) await turn();
      expect(waiting()).toBe(4);
      const post = (key: string) =>
        send(`${url}${path}`, { headers: { 'Idempotency-Key': key, ...large.headers }, body: large.body });
      const refused = await post('next');
      expect([refused.status, refused.headers['retry-after']]).toEqual([503, '10']);
      expect(JSON.parse(refused.text)).toMatchObject({ type: 'urn:bindonce:server-busy' });
      held.bound = held.weight;
      const small = { 'Idempotency-Key': 'small', 'Content-Type': 'application/json' };
      for (const [to, body] of Object.entries({ guarded: '{}', json: '{"a":"x"}' }))
        expect((await send(`${url}/${to}`, { headers: small, body })).status).toBe(200);
      for (const client of clients) client.leave();
      await nothingHeld();
      held.bound = normal;
      expect((await post('later')).status).toBe(200);
      await nothingHeld();
    },
  );

  it.each([
    ['in memory', KB, 8],
    ['on disk, also if it is sent in chunks', 1_800 * KB, 1],
  ])('is a body %s until its exchange is over, not until it is complete', async (_where, size, weight) => {
    let during = 0;
    const { post } = await guarded({}, (_req, res) => res.end(void (during = held.weight)));
    await post({ headers: { 'Transfer-Encoding': 'chunked' }, body: Buffer.alloc(size) });
    expect(during).toBe(size * weight);
    await nothingHeld();
  });

  it.each([
    ['/memory', 16_777_216],
    ['/disk', 104_857_600],
  ])('is of a form for %s at most %d bytes, unless limits.formBytes says otherwise', async (path, most) => {
    const { port } = await served();
    const statusOf = async (bytes: number, ms: number): Promise<number | undefined> => {
      const client = new RawClient(port);
      await client.send(headOf(path, 'k', bytes));
      const status = await client.status(ms);
      client.leave();
      return status;
    };
    expect([await statusOf(most, 100), await statusOf(most + 1, 30_000)]).toEqual([undefined, 413]);
  });
});
