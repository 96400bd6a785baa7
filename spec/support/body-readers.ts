import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** Calls `read` for each `readable` event, and collects what it takes until the stream ends. */
export function readingWhen(req: IncomingMessage, read: (take: (chunk: Buffer) => void) => void): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('readable', () => {
      read(chunk => chunks.push(chunk));
    });
    req.on('error', reject).on('end', () => {
      resolve(chunks);
    });
  });
}

/** Reads so many bytes, or all that are there. */
export const next = (req: IncomingMessage, size?: number): Buffer | null => req.read(size) as Buffer | null;

/** Reads all bytes of a body, each in its own way. */
export const byteReaders: readonly (readonly [how: string, read: (req: IncomingMessage) => Promise<Buffer[]>])[] = [
  ['iteration', req => req.toArray() as Promise<Buffer[]>],
  ['pipe', async req => [await buffer(req.pipe(new PassThrough({ highWaterMark: 1 })))]],
  [
    'a pipeline',
    async req => {
      const [chunks, sink] = [[] as Buffer[], new PassThrough()];
      await Promise.all([pipeline(req, sink), buffer(sink).then(all => chunks.push(all))]);
      return chunks;
    },
  ],
  ['a web stream', async req => [await buffer(Readable.toWeb(req) as AsyncIterable<Uint8Array>)]],
  [
    "'data', with a pause after each chunk",
    req =>
      new Promise(resolve => {
        const chunks: Buffer[] = [];
        req.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          req.pause();
          setImmediate(() => req.resume());
        });
        req.on('end', () => {
          resolve(chunks);
        });
      }),
  ],
  [
    "one read() for each 'readable'",
    req =>
      readingWhen(req, take => {
        const chunk = next(req);
        if (chunk) take(chunk);
      }),
  ],
  [
    "read() until there is no more, for each 'readable'",
    req =>
      readingWhen(req, take => {
        for (let chunk = next(req); chunk; chunk = next(req)) take(chunk);
      }),
  ],
  [
    "a listener for 'readable' that comes after a read and a turn",
    async req => {
      const first = next(req, 3);
      await new Promise(setImmediate);
      const rest = await readingWhen(req, take => {
        for (let chunk = next(req); chunk; chunk = next(req)) take(chunk);
      });
      return first ? [first, ...rest] : rest;
    },
  ],
  [
    "'data', and read() by a listener for 'readable'",
    req => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      return readingWhen(req, () => {
        while (next(req, 1_000));
      }).then(() => chunks);
    },
  ],
  [
    'a pipe that is taken away after its first chunk, then iteration',
    async req => {
      const chunks: Buffer[] = [];
      await new Promise<void>(resolve => {
        const sink = new Writable({
          write: (chunk: Buffer, _encoding, done) => {
            chunks.push(chunk);
            req.unpipe(sink);
            resolve();
            done();
          },
        });
        req.pipe(sink);
      });
      return [...chunks, ...((await req.toArray()) as Buffer[])];
    },
  ],
];
