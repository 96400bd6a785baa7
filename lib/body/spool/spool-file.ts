import { readSync } from 'node:fs';
import { open, rename, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onDisk } from './storage-problem';
import { makeTemporaryFolder } from './temporary-folder';
import { WriteBehind } from './write-behind';

/** A temporary file of bytes that are appended, and then read. */
export class SpoolFile {
  /** In bytes. */
  size = 0;
  private isOpen = true;
  private readonly behind: WriteBehind;

  private constructor(
    private readonly file: FileHandle,
    private readonly path?: string,
  ) {
    this.behind = new WriteBehind(file);
  }

  /**
   * Makes a file whose name has been removed: no other process can open it, and the system frees it when this process
   * ends, even if it crashes.
   */
  static async unnamed(): Promise<SpoolFile> {
    const folder = await makeTemporaryFolder(tmpdir());
    return new SpoolFile(await created(join(folder.path, 'body')).finally(() => folder.remove()));
  }

  /** Makes a file that can be moved. */
  static async named(path: string): Promise<SpoolFile> {
    return new SpoolFile(await created(path), path);
  }

  async write(chunk: Buffer): Promise<void> {
    this.size += chunk.length;
    await onDisk(() => this.behind.write(chunk));
  }

  /** Waits until everything is written. */
  end(): Promise<void> {
    return onDisk(() => this.behind.end());
  }

  /**
   * Reads at most so many bytes.
   * @throws Problem with status 503 when the disk fails; BodyRemoved when the file is closed.
   */
  async read(position: number, length: number): Promise<Buffer> {
    if (!this.isOpen) throw new BodyRemoved();
    const { buffer, bytesRead } = await onDisk(() => this.file.read(Buffer.allocUnsafe(length), 0, length, position));
    if (bytesRead === 0) throw tooShort();
    return buffer.subarray(0, bytesRead);
  }

  /**
   * Reads like `read`, but synchronously.
   * @throws the error of the system when the disk fails; BodyRemoved when the file is closed.
   */
  readNow(position: number, length: number): Buffer {
    if (length === 0) return Buffer.alloc(0);
    if (!this.isOpen) throw new BodyRemoved();
    const piece = Buffer.allocUnsafe(length);
    const bytesRead = readSync(this.file.fd, piece, 0, length, position);
    if (bytesRead === 0) throw tooShort();
    return piece.subarray(0, bytesRead);
  }

  /** Moves the file, if it has a name. Returns false if it cannot be moved: `to` may be on another file system. */
  async moveTo(to: string): Promise<boolean> {
    if (this.path === undefined) return false;
    try {
      // Nothing has this name any more once the file was moved.
      await rename(this.path, to);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Closes the file. Never rejects, since nothing can be done about an error. Readers have the handle, not its number:
   * after it is closed, they cannot read another file.
   */
  async close(): Promise<void> {
    this.isOpen = false;
    await this.file.close().catch(() => undefined);
  }
}

/** A body is read whose request is over: it was answered, or its client has disconnected. */
export class BodyRemoved extends Error {
  override readonly name = 'BodyRemoved';

  constructor() {
    super('bindonce: this body was removed when its request was over. Read it before the response has been sent.');
  }
}

const tooShort = (): Error =>
  new Error(
    'bindonce: a temporary file is shorter than what was written to it. If the handler changes uploaded files in ' +
      'place, it must do so after everything else has read the request.',
  );

const created = (path: string): Promise<FileHandle> => onDisk(() => open(path, 'wx+', 0o600));
