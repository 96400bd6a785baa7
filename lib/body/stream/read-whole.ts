import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { onExchangeEnd } from '../../http/exchange-end';
import { afterReading, discardUnread } from './after-reading';
import { arrivedBody, chunksOf, packetParsed } from './body-chunks';
import { bounded, checkDeclaredLength } from '../content/bounded';
import { drainRest } from '../../http/drain-rest';
import { filesApart, inBlocks, together } from '../spool/files-apart';
import { filesHeldIn } from './held-in';
import { ALWAYS_HELD, holdingOf, type Holding } from './holding';
import { boundaryOf } from '../content/media-type';
import { makeUnread, putBack, putBackFile } from './put-back';
import { BytesInMemory, type Received } from './received';
import { Spool } from '../spool/spool';

/** Bytes of a body that are kept in memory; a longer one is spooled to disk. */
export const IN_MEMORY = 1_048_576;

/** Chunks that are kept apart; more are joined, since each takes memory besides its bytes. */
const MOST_CHUNKS = 1_000;

/**
 * Reads the whole body from the connection and puts it back into the request stream. Its memory is released when the
 * exchange is over; its file is closed when, in addition, no one reads it any more.
 * @param limit bytes.
 * @throws a 413 problem for a longer body, a 503 or 507 problem when memory or disk do not take it, ClientGone.
 */
export async function readWhole(req: IncomingMessage, res: ServerResponse, limit: number): Promise<Received> {
  let received: Received | undefined;
  const holding = holdingOf(req, res, () => {
    if (received && received.kind !== 'file') discardUnread(req);
  });
  try {
    checkDeclaredLength(req, limit);
    received = await readAll(req, res, limit, holding);
    return received;
  } catch (error) {
    holding.giveBack();
    drainRest(req, res);
    throw error;
  }
}

async function readAll(req: IncomingMessage, res: ServerResponse, limit: number, holding: Holding): Promise<Received> {
  const coding = req.headers['content-encoding'];
  await packetParsed();
  const arrived = arrivedBody(req, Math.min(limit, IN_MEMORY));
  if (arrived) {
    holding.take('memory', arrived.length);
    makeUnread(req);
    return new BytesInMemory([arrived], coding);
  }
  // A body that says how long it is need not fill memory first: many arrive at the same time.
  const most = Number(req.headers['content-length'] ?? 0) > IN_MEMORY ? ALWAYS_HELD : IN_MEMORY;
  const chunks = bounded(chunksOf(req), limit);
  const inMemory: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    inMemory.push(next.value);
    if (inMemory.length === MOST_CHUNKS) inMemory.splice(0, MOST_CHUNKS, Buffer.concat(inMemory));
    size += next.value.length;
    holding.take('memory', next.value.length);
    if (size > most) return { kind: 'file', coding, spool: await readToFile(req, res, inMemory, chunks, holding) };
  }
  // A chunked body without a byte is no body, as one of length 0.
  if (size === 0) return { kind: 'none' };
  putBack(req, inMemory);
  return new BytesInMemory(inMemory, coding);
}

async function readToFile(
  req: IncomingMessage,
  res: ServerResponse,
  inMemory: Buffer[],
  rest: AsyncIterable<Buffer>,
  holding: Holding,
): Promise<Spool> {
  const boundary = req.headers['content-encoding'] === undefined ? boundaryOf(req) : '';
  const all = allOf(inMemory, rest, holding);
  const spool = await Spool.of(boundary === '' ? together(all) : filesApart(inBlocks(all), boundary));
  const unread = putBackFile(req, spool);
  holding.keep();
  onExchangeEnd(req, res, () => {
    afterReading(req, unread, () => {
      void spool.close();
      holding.giveBack();
    });
  });
  return spool;
}

/**
 * Yields first what is in memory, chunk by chunk: what was yielded last stays in memory until the client sends more.
 */
async function* allOf(inMemory: Buffer[], rest: AsyncIterable<Buffer>, holding: Holding): AsyncGenerator<Buffer, void> {
  const size = inMemory.reduce((sum, { length }) => sum + length, 0);
  const where = filesHeldIn(tmpdir());
  holding.take(where, size);
  // There may be as many chunks as bytes, and to shift a long array takes as long as it is.
  inMemory.reverse();
  for (let chunk = inMemory.pop(); chunk; chunk = inMemory.pop()) yield chunk;
  holding.giveBackMemory();
  for await (const chunk of rest) {
    holding.take(where, chunk.length);
    yield chunk;
  }
}
