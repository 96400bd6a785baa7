import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import type { Awaitable } from '../basics/awaitable';
import { processMemory } from '../basics/process';
import { ClientGone } from '../http/exchange-end';
import { Problem } from '../problems/problem';
import { onDisk, unnamedFile } from './temporary-files';

/**
 * What a byte weighs where it is held until its exchange is over. One in memory takes two and more: multer joins the
 * chunks of a file, and buffers wait for the garbage collector. (With half of this weight, uploads of 10 MiB got node
 * killed in 256 MiB.)
 */
const WEIGHTS = { memory: 8, disk: 1 } as const;

/**
 * @internal The weight of what all requests of this process hold together, and its bound: what the process may use, at
 * most 2 GiB. So they hold 256 MiB in memory at most, or an eighth of what it may use. Buffers are no part of V8's
 * heap, but what is made of them is (texts, trees, fields), and takes as much: so the limit of the heap counts, too.
 */
export const held = { weight: 0, bound: Math.min(2_147_483_648, processMemory) };

/** Bytes that each request may always hold: a few clients with large uploads must not shut out all others. */
const ALWAYS_HELD = 65_536;

/** The bytes that one request holds, until it is told that the exchange is over. */
export class Holding {
  private weight = 0;
  isOver = false;

  /**
   * Counts bytes as held.
   * @throws Problem with status 503 when all requests of the process together would hold too much; ClientGone when the
   * exchange is over, since the bytes are not needed any more.
   */
  take(bytes: number, where: keyof typeof WEIGHTS): void {
    if (this.isOver) throw new ClientGone();
    this.weight += bytes * WEIGHTS[where];
    held.weight += bytes * WEIGHTS[where];
    if (held.weight <= held.bound || this.weight <= ALWAYS_HELD * WEIGHTS[where]) return;
    // At once: until its file is closed, all other requests that are arriving would be refused, too.
    this.giveBack();
    throw new Problem('server-busy', 'The server has too many large requests to take this one. Retry later.', {
      headers: { 'Retry-After': '10' },
    });
  }

  giveBack(): void {
    held.weight -= this.weight;
    this.weight = 0;
  }

  /** Gives back what is held, and refuses to hold more. */
  end(): void {
    this.isOver = true;
    this.giveBack();
  }
}

/** Bytes of a body that are kept in memory; a longer one goes to a file. */
export const IN_MEMORY = 1_048_576;

/** Chunks that are kept apart; more are joined, since each takes memory besides its bytes. */
const MOST_CHUNKS = 1_000;

const REMOVED = 'this body was removed when its request was over. Read it before the response is sent.';

/** Bytes that are read from a file at once. */
const PIECE = 262_144;

/** The bytes of one body: in memory, or in a file without a name, which the system frees when this process ends. */
export class BodyBytes extends Holding {
  private file: FileHandle | undefined;

  /**
   * @param isLong whether bytes go to a file from the first on.
   * @param chunks at most one, which another reader has left.
   * @param size in bytes.
   */
  constructor(
    private readonly isLong = false,
    private chunks: Buffer[] = [],
    public size = chunks[0]?.length ?? 0,
  ) {
    super();
  }

  /** @throws a 503 or 507 problem when memory or disk do not take the bytes; ClientGone when the exchange is over. */
  add(chunk: Buffer): Awaitable<void> {
    this.size += chunk.length;
    if (this.size > IN_MEMORY || this.isLong) return this.addToFile(chunk);
    this.take(chunk.length, 'memory');
    if (this.chunks.push(chunk) === MOST_CHUNKS) this.chunks = [Buffer.concat(this.chunks)];
  }

  private async addToFile(chunk: Buffer): Promise<void> {
    if (!this.file) this.giveBack();
    const file = (this.file ??= await unnamedFile(tmpdir()));
    for (const part of [...this.chunks.splice(0), chunk]) {
      this.take(part.length, 'disk');
      await onDisk(file.appendFile(part));
    }
  }

  /** Returns the bytes if they are in memory. */
  inMemory(): Buffer | undefined {
    if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0];
  }

  all(): Awaitable<Buffer> {
    return this.inMemory() ?? buffer(this.pieces());
  }

  /** Yields all bytes. @throws a 503 problem when the disk fails; ClientGone when the request is over. */
  async *pieces(): AsyncGenerator<Buffer, void> {
    const { file } = this;
    if (!file) yield* this.chunks;
    else
      for (let position = 0; position < this.size;) {
        if (this.isOver) throw new ClientGone();
        const piece = Buffer.allocUnsafe(Math.min(PIECE, this.size - position));
        const { bytesRead } = await onDisk(file.read(piece, 0, piece.length, position));
        position += bytesRead;
        yield piece.subarray(0, bytesRead);
      }
  }

  /** Puts the bytes back for readers that follow. The stream still holds the last chunk, which keeps it from ending. */
  putBack(req: IncomingMessage): void {
    const bytes = this.inMemory();
    // Most bodies are one chunk.
    if (req.readableLength === this.size) return;
    const last = req.read() as Buffer;
    req.unshift(bytes ?? last.subarray(-1));
    if (this.file) this.putBackFile(req, this.file);
  }

  /** As the stream is read, the bytes that are wanted go in front of the last one, which it holds. */
  private putBackFile(req: IncomingMessage, { fd }: FileHandle): void {
    const read = (Reflect.get(req, 'read') as (size?: number) => unknown).bind(req);
    let position = 0;
    req.read = (size?: number): unknown => {
      const left = this.size - 1 - position;
      if (size === 0 || left <= 0) return read(size);
      try {
        if (this.isOver) throw new Error(`bindonce: ${REMOVED}`);
        // From the system's cache, usually: the file has just been written.
        const piece = Buffer.allocUnsafe(Math.min(size ?? PIECE, left));
        const length = readSync(fd, piece, 0, piece.length, position);
        position += length;
        req.unshift(piece.subarray(0, length));
      } catch (error) {
        req.destroy(error as Error);
        return null;
      }
      // A reader may wait for this event after each piece; node emits it for what comes from the connection only.
      if (req.listenerCount('readable') > 0) setImmediate(() => req.emit('readable'));
      return read(Math.min(size ?? PIECE, req.readableLength));
    };
    req.setEncoding = () => {
      throw new Error(
        'bindonce: req.setEncoding() cannot be used for a body of more than 1 MiB, which comes back from a file. ' +
          'Decode it by new TextDecoderStream(), or read it by express.text().',
      );
    };
  }

  /** Gives the memory or the file back. Never rejects, since nothing can be done about an error. */
  close(): Awaitable<void> {
    this.end();
    return this.file?.close().catch(() => undefined);
  }
}
