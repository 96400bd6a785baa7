import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readlinkSync, readSync, statSync, utimesSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { makeTemporaryFolder } from '../../../lib/body/spool/temporary-folder';
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

function beginsWith(path: string, mark: string): boolean {
  const file = openSync(path, 'r');
  const beginning = Buffer.alloc(300);
  readSync(file, beginning);
  closeSync(file);
  return beginning.includes(mark);
}

/** Nobody is told when a temporary file is gone, so this looks again and again, until the spec's time is over. */
async function noneLeft(mark: string): Promise<void> {
  while (spooled(mark).length > 0) await pause(5);
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
    expect((await send(url, { headers, body })).text).toBe('1');
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

it('a handler that is still reading a body from disk when its response has been sent gets all of it', async () => {
  const failed = signal<Error>();
  const { url } = await served((req, res) => {
    res.end();
    req.once('data', () => {
      req.pause();
      res.once('close', () => setImmediate(() => req.resume()));
    });
    req.on('error', failed.happens).on('end', () => {
      failed.happens(new Error('whole'));
    });
  });
  const { headers, body } = upload();
  await send(url, { headers, body });
  expect((await failed.happened).message).toBe('whole');
});

it('leftovers of killed processes are removed after a day, and nothing else', async () => {
  const parent = directory.path;
  const made = (name: string, mode = 0o700): string => {
    mkdirSync(join(parent, name), { mode });
    utimesSync(join(parent, name), 0, 0);
    return name;
  };
  const kept = [made('bindonce-spec-x'), made('bindonce-aB3dE7', 0o755)];
  // In any order: the last that is old is removed after half of the new ones have been looked at.
  for (let index = 10; index < 40; index++) {
    made(`bindonce-old0${index}`);
    mkdirSync(join(parent, `bindonce-new0${index}`), { mode: 0o700 });
    kept.push(`bindonce-new0${index}`);
  }
  await (await makeTemporaryFolder(parent)).remove();
  while (readdirSync(parent).some(name => name.includes('old'))) await pause(5);
  expect(readdirSync(parent).sort()).toEqual(kept.sort());
});
