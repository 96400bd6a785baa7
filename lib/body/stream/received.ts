import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { buffer } from 'node:stream/consumers';
import type { Awaitable } from '../../basics/awaitable';
import { ClientGone } from '../../http/exchange-end';
import { onDisk, unnamedFile } from '../spool/temporary-folder';

/**
 * The body of one request.
 * - `none`: the request has no body.
 * - `bytes`, `file`: the whole body, in memory or on disk; `coding` is the content coding that is still to be undone.
 * - `parsed`: an earlier parser has used up the stream; this is what it left.
 */
export type Received =
  | { readonly kind: 'none' }
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly coding: string | undefined }
  | { readonly kind: 'file'; readonly spool: Spool; readonly coding: string | undefined }
  | { readonly kind: 'parsed'; readonly body: unknown; readonly files: readonly Express.Multer.File[] };

/** A body whose bytes are known. */
export type ReceivedBytes = Extract<Received, { kind: 'bytes' | 'file' }>;

/** Bytes that are read from a file at once: as a reader takes them, and where all are read. */
const PIECE = 65_536;
const LONG_PIECE = 262_144;

/** A body that is too large for memory, in a file without a name: the system frees it when this process ends. */
export class Spool {
  /** In bytes. */
  size = 0;
  private isOpen = true;

  private constructor(private readonly file: FileHandle) {}

  /** @throws a 507 or 503 problem. */
  static async open(): Promise<Spool> {
    return new Spool(await unnamedFile(tmpdir()));
  }

  /** @throws a 507 or 503 problem when the disk does not take the bytes. */
  async write(bytes: Buffer): Promise<void> {
    await onDisk(() => this.file.appendFile(bytes));
    this.size += bytes.length;
  }

  /**
   * Reads at most so many bytes synchronously, usually from the system's cache, since the file has just been written.
   * @throws Error when the request is over; the error of the system when the disk fails.
   */
  read(position: number, length: number): Buffer {
    if (!this.isOpen)
      throw new Error(
        'bindonce: this body was removed when its request was over. Read it before the response is sent.',
      );
    const piece = Buffer.allocUnsafe(length);
    return piece.subarray(0, readSync(this.file.fd, piece, 0, length, position));
  }

  /** Yields all bytes. @throws a 503 problem when the disk fails; ClientGone when the request is over. */
  async *chunks(): AsyncGenerator<Buffer, void> {
    for (let position = 0; position < this.size;) {
      if (!this.isOpen) throw new ClientGone();
      const piece = Buffer.allocUnsafe(Math.min(LONG_PIECE, this.size - position));
      const { bytesRead } = await onDisk(() => this.file.read(piece, 0, piece.length, position));
      position += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  /** Never rejects, since nothing can be done about an error. */
  async close(): Promise<void> {
    this.isOpen = false;
    await this.file.close().catch(() => undefined);
  }
}

/** Returns all the bytes of a received body. */
export function allBytes(received: ReceivedBytes): Awaitable<Buffer> {
  return received.kind === 'file' ? buffer(received.spool.chunks()) : received.bytes;
}

/** Yields the bytes of a received body, piece by piece. */
export async function* openReceived(received: ReceivedBytes): AsyncGenerator<Buffer, void> {
  if (received.kind === 'file') yield* received.spool.chunks();
  else yield received.bytes;
}

/** Returns the bytes that count towards a limit: none for what an earlier parser left, which has a limit of its own. */
export function sizeOf(received: Received): number {
  if (received.kind === 'bytes') return received.bytes.length;
  return received.kind === 'file' ? received.spool.size : 0;
}

/** Puts a body back for the readers that follow. The stream still holds the last byte, which keeps it from ending. */
export function putBack(req: IncomingMessage, received: ReceivedBytes): void {
  if (received.kind === 'file') {
    putBackFile(req, received.spool);
  } else {
    req.read();
    req.unshift(received.bytes);
  }
}

/** Puts a body back from a file: as it is read, the bytes that are wanted go in front of the last one. */
function putBackFile(req: IncomingMessage, spool: Spool): void {
  const readFromStream = Reflect.get(req, 'read') as (size?: number) => unknown;
  const read = (size?: number): unknown => readFromStream.call(req, size);
  let position = 0;
  req.read = (size?: number): unknown => {
    const left = spool.size - 1 - position;
    if (size === 0 || left <= 0) return read(size);
    try {
      const piece = spool.read(position, Math.min(size ?? PIECE, left));
      position += piece.length;
      req.unshift(piece);
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
