import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type multer from 'multer';
import { makeTemporaryFolder, PREFIX, removeTemporary } from '../../body/spool/temporary-folder';
import { ClientGone } from '../../http/exchange-end';

/**
 * Bytes of a file that may wait in memory for a write to end: the next write takes them all, and each costs 200 µs,
 * however short it is.
 */
const WAITING = 262_144;

/** Stores the files of one form in a folder of their own, which only the user of this process can open. */
export class DiskStorage implements multer.StorageEngine {
  private folder: Promise<string> | undefined;
  private isOver = false;

  constructor(private readonly parent: string) {}

  _handleFile(...[, { stream }, done]: Parameters<multer.StorageEngine['_handleFile']>): void {
    this.store(stream).then(stored => {
      done(null, stored);
    }, done);
  }

  _removeFile(...[, { path }, done]: Parameters<multer.StorageEngine['_removeFile']>): void {
    unlink(path).then(() => {
      done(null);
    }, done);
  }

  /** Removes all files that still exist. Later ones are not stored: nothing would remove them. */
  async remove(): Promise<void> {
    this.isOver = true;
    const folder = await this.folder?.catch(() => undefined);
    if (folder !== undefined) await removeTemporary(folder);
  }

  private async store(content: Readable): Promise<Partial<Express.Multer.File>> {
    // An earlier middleware (a timeout) may have answered while parts before this file were read.
    if (this.isOver) throw new ClientGone();
    const destination = await (this.folder ??= makeTemporaryFolder(this.parent));
    const filename = randomBytes(16).toString('hex');
    const path = join(destination, filename);
    const file = createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: WAITING });
    await pipeline(content, file);
    return { destination, filename, path, size: file.bytesWritten };
  }
}

/**
 * Returns the folder for uploads, and makes it if it does not exist.
 * @throws TypeError if it cannot be made or written to.
 */
export function uploadDirectory(directory = tmpdir()): string {
  try {
    mkdirSync(directory, { recursive: true });
    // Only making something tells whether it can be written to.
    rmdirSync(mkdtempSync(join(directory, PREFIX)));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A full disk may have room again, and answers with a problem until then.
    if (code !== 'ENOSPC')
      throw new TypeError(
        `bindRequest: the folder for uploads ${JSON.stringify(directory)} cannot be written to (${message}). ` +
          'Name a folder in uploads.directory to which the user of this process may write.',
        { cause: error },
      );
  }
  return directory;
}
