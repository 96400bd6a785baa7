import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { filesApart, inBlocks, together } from '../../../lib/body/spool/files-apart';
import { namePrefix } from '../../../lib/body/spool/leftovers';
import { Spool } from '../../../lib/body/spool/spool';
import { EventLog } from '../../support/event-log';
import { multipart } from '../../support/multipart';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { send } from '../../support/listen';

const directory = new TemporaryDirectory();
afterAll(() => {
  directory.remove();
});

/** The open temporary files of this process that hold a part of a body, also those that have no names any more. */
function spooled(mark: string): string[] {
  return readdirSync('/proc/self/fd')
    .map(descriptor => `/proc/self/fd/${descriptor}`)
    .filter(path => {
      try {
        return readlinkSync(path).startsWith(`${tmpdir()}/bindonce-`) && beginsWith(path, mark);
      } catch {
        return false;
      }
    });
}

/** The temporary files of this process that hold a part of a body and have names. */
function named(mark: string): string[] {
  return readdirSync(tmpdir())
    .filter(name => name.startsWith(namePrefix()))
    .flatMap(folder => {
      try {
        return readdirSync(join(tmpdir(), folder)).map(name => join(tmpdir(), folder, name));
      } catch {
        return [];
      }
    })
    .filter(path => {
      try {
        return beginsWith(path, mark);
      } catch {
        return false;
      }
    });
}

function beginsWith(path: string, mark: string): boolean {
  const file = openSync(path, 'r');
  const beginning = Buffer.alloc(300);
  readSync(file, beginning);
  closeSync(file);
  return beginning.includes(mark);
}

/** Nobody is told when a temporary file is gone, so this looks again and again, until the spec's time is over. */
async function noneLeft(mark: string): Promise<void> {
  while (spooled(mark).length > 0 || named(mark).length > 0) await pause(5);
}

const SIZE = 3_000_000;

/** A form of 3 MB. Its field and its file are known by a mark. */
function upload(end = '--b1--\r\n') {
  const mark = randomBytes(16).toString('hex');
  const { body, headers } = multipart(
    [
      { name: 'mark', value: mark },
      { name: 'f', filename: 'f', value: mark.padEnd(SIZE, 'x') },
    ],
    'b1',
  );
  return {
    mark,
    body: Buffer.concat([body.subarray(0, -'--b1--\r\n'.length), Buffer.from(end)]),
    headers: { ...headers, 'Idempotency-Key': mark },
  };
}

const served = (handler: RequestHandler, options: IdempotencyOptions = {}) =>
  serve(express().post('/', idempotency(options), handler));

describe('a body that is too large for memory', () => {
  it('is in one file without a name, that only its owner can read, while the handler runs, and gone after the response', async () => {
    const mark = randomBytes(16).toString('hex');
    let seen: unknown[] = [];
    const { url } = await served((_req, res) => {
      seen = spooled(mark).map(path => [
        statSync(path).mode & 0o777,
        statSync(path).nlink,
        readlinkSync(path).endsWith(' (deleted)'),
      ]);
      res.end();
    });
    await send(url, { headers: { 'Idempotency-Key': mark }, body: mark.padEnd(SIZE) });
    expect(seen).toEqual([[0o600, 0, true]]);
    await noneLeft(mark);
  });

  it('and is a form with a long file, has that in a file of its own, that only its owner can read, until the response', async () => {
    const { mark, body, headers } = upload();
    let seen: unknown[] = [];
    const { url } = await served((_req, res) => {
      seen = named(mark).map(path => [statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]);
      res.send(`${spooled(mark).length}`);
    });
    expect((await send(url, { headers, body })).text).toBe('2');
    expect(seen).toEqual([[0o600, 0o700]]);
    await noneLeft(mark);
  });

  it('and is cut short by the handler is not read to a false end', async () => {
    const { mark, body, headers } = upload();
    const { url } = await served((req, res) => {
      for (const path of named(mark)) truncateSync(path, 10);
      req
        .on('error', error => res.send(error.message))
        .on('end', () => res.send('end'))
        .resume();
    });
    await expect(send(url, { headers, body })).rejects.toThrow();
    await noneLeft(mark);
  });

  it('is gone after a replay', async () => {
    const { mark, body, headers } = upload();
    const { url } = await served((_req, res) => {
      res.end();
    });
    await send(url, { headers, body });
    expect((await send(url, { headers, body })).headers['idempotent-replayed']).toBe('true');
    await noneLeft(mark);
  });

  it('is gone after the handler has failed', async () => {
    const { mark, body, headers } = upload();
    const { url } = await served(() => {
      throw new Error('no');
    });
    expect((await send(url, { headers, body })).status).toBe(500);
    await noneLeft(mark);
  });

  it('is gone after the client hung up while sending it', async () => {
    const { mark, body, headers } = upload();
    const { url } = await served((_req, res) => {
      res.end();
    });
    const sent = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(body.length) },
      agent: false,
    }).on('error', () => undefined);
    sent.write(body.subarray(0, 2_500_000));
    while (spooled(mark).length === 0) await pause(5);
    sent.destroy();
    await noneLeft(mark);
  });

  it('is gone after the client hung up while the handler ran, once that has ended', async () => {
    const { mark, body, headers } = upload();
    const log = new EventLog();
    const running = signal();
    const gone = signal();
    const { url } = await served(
      (_req, res) => {
        res.socket?.once('close', () => {
          gone.happens();
        });
        running.happens();
        void gone.happened.then(() => res.send(String(spooled(mark).length)));
      },
      { onEvent: log.onEvent },
    );
    const sent = request(url, { method: 'POST', headers, agent: false }).on('error', () => undefined);
    sent.end(body);
    await running.happened;
    sent.destroy();
    await log.first('executed');
    await noneLeft(mark);
    expect((await send(url, { headers, body })).text).toBe('2');
  });

  it.each<[string, string, IdempotencyOptions, number]>([
    ['was refused for being too long', '--b1--\r\n', { maxRequestBytes: 2_000_000 }, 413],
    ['could not be read as a form', '', {}, 200],
  ])('is gone after it %s', async (_title, end, options, status) => {
    const { mark, body, headers } = upload(end);
    const { url } = await served((_req, res) => {
      res.end();
    }, options);
    expect((await send(url, { headers: { ...headers, 'Transfer-Encoding': 'chunked' }, body })).status).toBe(status);
    await noneLeft(mark);
  });

  it('is gone after the request was refused for another reason', async () => {
    const { mark, body, headers } = upload();
    const running = signal();
    const mayEnd = signal();
    const { url } = await served(
      (_req, res) => {
        running.happens();
        void mayEnd.happened.then(() => res.end());
      },
      { whenInFlight: 'reject' },
    );
    const first = send(url, { headers, body });
    await running.happened;
    expect((await send(url, { headers, body })).status).toBe(409);
    mayEnd.happens();
    await first;
    await noneLeft(mark);
  });
});

describe('a spool', () => {
  it('knows its size, and gives its bytes until it is closed', async () => {
    const spool = await Spool.of(together(Readable.from([Buffer.from('ab'), Buffer.from('c')])));
    expect(spool.size).toBe(3);
    expect([String(await buffer(spool.chunks())), String(spool.read(1)), String(spool.read(3))]).toEqual([
      'abc',
      'bc',
      '',
    ]);
    await spool.close();
    expect(() => spool.read(0)).toThrow('was removed when its request was over');
    await expect(buffer(spool.chunks())).rejects.toThrow('was removed when its request was over');
  });

  const form = multipart(
    [
      { name: 'a', value: '1' },
      { name: 'f', filename: 'f', value: Buffer.alloc(100_000, 'x') },
      { name: 'g', filename: 'g', value: Buffer.alloc(50, 'y') },
      { name: 'h', filename: 'h', value: Buffer.alloc(100_000, 'z') },
    ],
    'b1',
  ).body;
  const spoolForm = (): Promise<Spool> => {
    const blocks = [form.subarray(0, 50_000), form.subarray(50_000, 150_000), form.subarray(150_000)].map(block => [
      block,
    ]);
    return Spool.of(filesApart(Readable.from(blocks), 'b1'));
  };
  const readNow = (spool: Spool): Buffer => {
    const pieces: Buffer[] = [];
    for (let position = 0; position < spool.size; position += pieces.at(-1)?.length ?? 0)
      pieces.push(spool.read(position));
    return Buffer.concat(pieces);
  };

  it('is read in smaller blocks where there is less memory', async () => {
    const reported = jest.spyOn(process, 'constrainedMemory').mockReturnValue(268_435_456);
    let small = Spool;
    jest.isolateModules(() => {
      small = jest.requireActual<typeof import('../../../lib/body/spool/spool')>('../../../lib/body/spool/spool').Spool;
    });
    reported.mockRestore();
    const firstBlock = async (made: typeof Spool): Promise<number> => {
      const spool = await made.of(together(Readable.from([Buffer.alloc(1_000_000)])));
      const { value } = await spool.chunks().next();
      await spool.close();
      return value?.length ?? 0;
    };
    expect([await firstBlock(Spool), await firstBlock(small)]).toEqual([524_288, 65_536]);
  });

  it('of a form has long files apart, gives the same bytes, and moves each file once', async () => {
    const spool = await spoolForm();
    expect(spool.size).toBe(form.length);
    const contents = spool.apart.map(({ start, end }) => String(form.subarray(start, end)));
    expect(contents).toEqual(['x'.repeat(100_000), 'z'.repeat(100_000)]);
    const path = join(directory.path, 'moved');
    const [{ start, end } = { start: 0, end: 0 }] = spool.apart;
    expect(await spool.moveTo(path, start, end - 1)).toBe(false);
    expect(await spool.moveTo(path, start, end)).toBe(true);
    expect(await spool.moveTo(`${path} again`, start, end)).toBe(false);
    expect(readNow(spool).equals(form)).toBe(true);
    expect((await buffer(spool.chunks())).equals(form)).toBe(true);
    await spool.close();
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(100_000));
  });

  it('whose file was moved and made shorter gives an error, not fewer bytes', async () => {
    const spool = await spoolForm();
    const path = join(directory.path, 'cut');
    const [{ start, end } = { start: 0, end: 0 }] = spool.apart;
    await spool.moveTo(path, start, end);
    truncateSync(path, 10);
    expect(() => readNow(spool)).toThrow('shorter than what was written');
    await expect(buffer(spool.chunks())).rejects.toThrow('shorter than what was written');
    await spool.close();
  });

  it('has nothing apart while all spools of the process have 128 files open', async () => {
    const others = await Promise.all(Array.from({ length: 64 }, spoolForm));
    const spool = await spoolForm();
    expect(spool.apart).toEqual([]);
    expect((await buffer(spool.chunks())).equals(form)).toBe(true);
    await Promise.all([spool, ...others].map(one => one.close()));
    const next = await spoolForm();
    expect(next.apart).toHaveLength(2);
    await next.close();
  });

  it('that is closed while it is read never gives bytes of another file', async () => {
    const spool = await Spool.of(together(Readable.from([Buffer.alloc(600_000, 'a')])));
    const chunks = spool.chunks();
    await chunks.next();
    await spool.close();
    const others = await Promise.all(
      Array.from({ length: 20 }, () => Spool.of(together(Readable.from([Buffer.alloc(600_000, 'b')])))),
    );
    await expect(chunks.next()).rejects.toThrow('was removed when its request was over');
    await Promise.all(others.map(other => other.close()));
  });

  it('leaves nothing behind when the chunks end in an error', async () => {
    const mark = randomBytes(16).toString('hex');
    const reached = new AbortController();
    const failing = (async function* chunks() {
      yield Buffer.from(
        `--b1\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${mark.padEnd(600_000)}`,
      );
      if (!reached.signal.aborted) await once(reached.signal, 'abort');
      throw new Error('cut off');
    })();
    const spooling = Spool.of(filesApart(inBlocks(failing), 'b1'));
    reached.abort();
    await expect(spooling).rejects.toThrow('cut off');
    expect([...spooled(mark), ...named(mark)]).toEqual([]);
  });
});
