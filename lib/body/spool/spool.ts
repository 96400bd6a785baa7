import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { ClientGone } from '../../http/exchange-end';
import { onDisk, unnamedFile } from './temporary-folder';

/** Bytes that are read at once. */
const PIECE = 262_144;

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
      const piece = Buffer.allocUnsafe(Math.min(PIECE, this.size - position));
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
