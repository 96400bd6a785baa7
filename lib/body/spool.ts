import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A body that was too large for memory, in a file that belongs to this request alone. */
export interface Spool {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string;
  remove(): Promise<void>;
}

/** Writes chunks to a temporary file, waiting for the disk. Whatever goes wrong with chunks or disk, no file is left behind. */
export async function spool(chunks: AsyncIterable<Buffer>): Promise<Spool> {
  const directory = await mkdtemp(join(tmpdir(), 'bindonce-'));
  const path = join(directory, 'body');
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    const file = createWriteStream(path, { mode: 0o600 });
    await once(file, 'open');
    const sha = createHash('sha256');
    let size = 0;
    try {
      for await (const chunk of chunks) {
        size += chunk.length;
        sha.update(chunk);
        if (!file.write(chunk)) await once(file, 'drain');
      }
    } finally {
      file.end();
    }
    await once(file, 'finish');
    return { path, size, digest: sha.digest('hex'), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
