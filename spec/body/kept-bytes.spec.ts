import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { EventLog } from '../support/event-log';
import { multipart } from '../support/multipart';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { send } from '../support/listen';

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

  it('is gone after the client hung up while sending it', async () => {
    const { mark, body, headers } = upload();
    const { url } = await served((_req, res) => void res.end());
    const framing = { 'Content-Length': String(body.length) };
    const sent = request(url, { method: 'POST', headers: { ...headers, ...framing }, agent: false });
    sent.on('error', () => undefined).write(body.subarray(0, 2_500_000));
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
        res.socket?.once('close', () => gone.happens());
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
});
