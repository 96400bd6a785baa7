import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientGone } from './errors';
import { refuseRest } from './read';

/** A body that was too large for memory, in a file that belongs to this request alone. */
export interface Spool {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string;
  remove(): Promise<void>;
}

/**
 * Writes the body to a temporary file: first what has been read already, then the rest of the stream.
 * @throws a 413 problem when the body is longer than `limit` bytes, {@link ClientGone} when it ends early; the file is
 * gone in both cases.
 */
export async function spool(req: IncomingMessage, head: readonly Buffer[], limit: number): Promise<Spool> {
  const directory = await mkdtemp(join(tmpdir(), 'bindonce-'));
  const path = join(directory, 'body');
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    return { path, ...(await writeTo(path, req, head, limit)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function writeTo(path: string, req: IncomingMessage, head: readonly Buffer[], limit: number): Promise<Pick<Spool, 'size' | 'digest'>> {
  return new Promise((resolve, reject) => {
    const file = createWriteStream(path, { mode: 0o600 });
    const sha = createHash('sha256');
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) return fail(refuseRest(req, limit));
      sha.update(chunk);
      if (!file.write(chunk)) req.pause();
    };
    const onEnd = (): void => { file.end(); };
    const onClose = (): void => { if (!req.complete) fail(new ClientGone()); };
    const fail = (error: Error): void => {
      req.removeListener('data', take).removeListener('end', onEnd).removeListener('close', onClose);
      file.destroy();
      reject(error);
    };
    file.on('drain', () => { req.resume(); });
    file.on('error', fail);
    file.on('finish', () => { resolve({ size, digest: sha.digest('hex') }); });
    for (const chunk of head) take(chunk);
    req.on('data', take).on('end', onEnd).on('close', onClose);
    if (req.destroyed) onClose();
  });
}
