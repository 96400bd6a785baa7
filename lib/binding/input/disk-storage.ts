import { open } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import multer from 'multer';
import { onDisk } from '../../body/storage-problem';
import { makeTemporaryFolder, type TemporaryFolder } from '../../body/temporary-folder';

/** Stores the files of one form in a folder of their own, which only the user of this process can open. */
export class DiskStorage implements multer.StorageEngine {
  private folder: Promise<TemporaryFolder> | undefined;
  private readonly engine: multer.StorageEngine;

  constructor(parent: string) {
    this.engine = multer.diskStorage({
      destination: (_req, _file, done) => {
        resolveOptions(
          (this.folder ??= makeTemporaryFolder(parent)).then(({ path }) => path),
          done,
        );
      },
      filename: (_req, _file, done) => {
        resolveOptions(this.newFile(), done);
      },
    });
  }

  _handleFile(...given: Parameters<multer.StorageEngine['_handleFile']>): void {
    this.engine._handleFile(...given);
  }

  _removeFile(...given: Parameters<multer.StorageEngine['_removeFile']>): void {
    this.engine._removeFile(...given);
  }

  /** Removes all files that still exist. */
  async remove(): Promise<void> {
    const folder = await this.folder?.catch(() => undefined);
    await folder?.remove();
  }

  /**
   * Creates the file before multer does, with mode 0600: multer's own files would get the default mode of the process.
   */
  private async newFile(): Promise<string> {
    const name = randomBytes(16).toString('hex');
    const { path = '' } = (await this.folder) ?? {};
    await onDisk(async () => (await open(join(path, name), 'wx', 0o600)).close());
    return name;
  }
}

function resolveOptions(value: Promise<string>, done: (error: Error | null, value: string) => void): void {
  value.then(
    text => {
      done(null, text);
    },
    (error: unknown) => {
      done(error as Error, '');
    },
  );
}
