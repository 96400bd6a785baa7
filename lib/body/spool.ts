import { readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onDisk } from './storage-problem';
import { makeTemporaryFolder } from './temporary-folder';
import { WriteBehind } from './write-behind';

/** Bytes that are read at once where the process waits for them. */
const PIECE = 65_536;

/** Bytes that are read at once while the process goes on: each such step costs 50 to 200 µs, however short it is. */
const BLOCK = 524_288;

/**
 * A body that was too large for memory, in a file whose name has been removed: no other process can open it, and the
 * system frees it when this process ends, even if it crashes.
 */
export class Spool {
  private isOpen = true;

  private constructor(
    private readonly file: FileHandle,
    /** In bytes. */ readonly size: number,
  ) {}

  /**
   * Writes chunks to a temporary file, waiting for the disk. If the chunks or the disk fail, no file is left behind.
   * @throws the error of the chunks, or a 507 or 503 problem when the disk does not take them.
   */
  static async of(chunks: AsyncIterable<Buffer>): Promise<Spool> {
    const folder = await makeTemporaryFolder(tmpdir());
    const file = await onDisk(() => open(join(folder.path, 'body'), 'wx+', 0o600)).finally(() => folder.remove());
    try {
      const behind = new WriteBehind(file);
      let size = 0;
      for await (const chunk of chunks) {
        size += chunk.length;
        await onDisk(() => behind.write(chunk));
      }
      await onDisk(() => behind.end());
      return new Spool(file, size);
    } catch (error) {
      await closed(file);
      throw error;
    }
  }

  /**
   * Reads synchronously, usually from the system's cache, since the file has just been written.
   * @returns no bytes after the end, or when the file is closed.
   */
  read(position: number): Buffer {
    const piece = Buffer.allocUnsafe(PIECE);
    return this.isOpen ? piece.subarray(0, readSync(this.file.fd, piece, 0, PIECE, position)) : piece.subarray(0, 0);
  }

  /**
   * Yields all bytes, or those from `start` up to `end`.
   * @throws Problem with status 503 when the disk fails; Error when the file is closed before its end.
   */
  async *chunks(start = 0, end = this.size): AsyncGenerator<Buffer, void> {
    for (let position = start; position < end;) {
      const length = Math.min(BLOCK, end - position);
      const { buffer, bytesRead } = await onDisk(() => this.file.read(Buffer.allocUnsafe(length), 0, length, position));
      if (bytesRead === 0) throw new Error('bindonce: a temporary file is shorter than what was written to it.');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Never rejects. Readers have the handle, not its number: after it is closed, they cannot read another file. */
  close(): Promise<void> {
    this.isOpen = false;
    return closed(this.file);
  }
}

/** Closes a file. An error is ignored, since nothing can be done about it. */
const closed = (file: FileHandle): Promise<void> => file.close().catch(() => undefined);
