import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Request } from 'express';
import multer, { type Multer } from 'multer';
import type { Awaitable } from '../../basics/awaitable';
import type { Form, FormOptions, PartsTaken } from '../../body/form/form';
import { Holding } from '../../body/kept-bytes';
import { makeTemporaryFolder, PREFIX, removeTemporary, storageProblem } from '../../body/temporary-files';
import { ClientGone, onExchangeEnd } from '../../http/exchange-end';
import { checkOptions, oneOf } from '../../options/check';
import { DEFAULT_FORM_BYTES, type ResolvedLimits } from '../reading/limits';

/** Where uploaded files go. */
export interface UploadOptions {
  /**
   * `'memory'`: a Buffer. `'disk'`: a file that only the user of this process can open, removed when the response has
   * ended. Default `'memory'`.
   */
  storage?: 'memory' | 'disk';
  /** Folder for `'disk'`; created if it is not there. Default: the system's temporary folder. */
  directory?: string;
}

/** Reads one form, from wherever it is. */
export type FormReader = (options: FormOptions) => Promise<Form>;

/**
 * Stores the multipart form of one request. Files that bindonce keeps on disk are removed when the exchange has ended.
 * @param parts tells which files are kept, and which are read as fields.
 */
export type ReadUpload = (
  read: FormReader,
  req: IncomingMessage,
  res: ServerResponse,
  parts: PartsTaken,
) => Promise<Form>;

/** What removes the files that are stored for a request, while it may still be refused. */
const stored = new WeakMap<IncomingMessage, readonly (() => Promise<void>)[]>();

/**
 * Discards the stored files of a request that is refused, by this `bindRequest()` or a later one: they have no owner.
 * Those of a request that is bound belong to its handler, if a Multer of the application has stored them.
 */
export function discardStored(req: IncomingMessage): Awaitable<void> {
  const discarding = (stored.get(req) ?? []).map(discard => discard());
  stored.delete(req);
  if (discarding.length > 0) return Promise.allSettled(discarding).then(() => undefined);
}

/** The properties of a multer instance that are used, which its declarations leave out. */
interface OwnMulter extends Pick<FormOptions, 'storage' | 'fileFilter'> {
  readonly limits?: FormOptions['limits'] | ((req: IncomingMessage) => FormOptions['limits'] | undefined);
}

/**
 * @param uploads where files go, or a Multer of the application, which then owns the files of every request that is
 * bound.
 * @throws TypeError for an invalid option.
 */
export function uploadReader(
  uploads: UploadOptions | Multer = {},
  limits: ResolvedLimits,
): { readonly readUpload: ReadUpload; readonly formBytes: number } {
  const directory = isMulter(uploads) ? undefined : directoryFor(uploads);
  const own: OwnMulter = isMulter(uploads) ? (uploads as unknown as OwnMulter) : { storage: multer.memoryStorage() };
  const isInMemory = directory === undefined && isMemoryStorage(own.storage);
  const formBytes = limits.formBytes ?? DEFAULT_FORM_BYTES[isInMemory ? 'memory' : 'disk'];
  const readUpload: ReadUpload = async (read, req, res, parts) => {
    const onDisk = directory === undefined ? undefined : new DiskStorage(directory);
    // What a Multer of the application stores elsewhere is not held by this process.
    const heldIn = directory === undefined ? isInMemory && 'memory' : 'disk';
    const storage = onDisk ?? own.storage;
    const holding = Holding.until(req, res);
    const take = (bytes: number): void => {
      if (heldIn) holding.take(bytes, heldIn);
    };
    const discard = async (files: Form['files']): Promise<void> => {
      if (onDisk) await onDisk.remove();
      else
        await Promise.allSettled(files.map(file => promisify(storage._removeFile.bind(storage))(req as Request, file)));
    };
    if (onDisk) onExchangeEnd(req, res, () => void onDisk.remove());
    try {
      const bounds = stricter(limits, (typeof own.limits === 'function' ? own.limits(req) : own.limits) ?? {});
      const settings = { storage, limits: bounds, ...(own.fileFilter && { fileFilter: own.fileFilter }), parts, take };
      const form = await read({ ...settings, fieldsBytes: limits.bodyBytes });
      stored.set(req, [...(stored.get(req) ?? []), () => discard(form.files)]);
      return form;
    } catch (error) {
      holding.giveBack();
      // A Multer has already removed the files of a form that was refused while it was read.
      await discard([]);
      // Errors of the file system name the system call that has failed.
      throw onDisk && error instanceof Error && 'syscall' in error ? storageProblem(error) : error;
    }
  };
  return { readUpload, formBytes };
}

/**
 * Checks where files go, and makes their folder if it does not exist.
 * @returns the folder; undefined for the memory.
 * @throws TypeError for an invalid option, and for a folder that cannot be made or written to.
 */
function directoryFor(uploads: UploadOptions): string | undefined {
  if ('_handleFile' in uploads)
    throw new TypeError('bindRequest: uploads must be a Multer; give multer({ storage }) instead of the storage.');
  checkOptions('bindRequest: uploads', uploads, {
    storage: oneOf('memory', 'disk'),
    directory: { expects: 'a path', accepts: value => typeof value === 'string' && value !== '' },
  });
  const { storage, directory = tmpdir() } = uploads;
  if (storage !== 'disk' && uploads.directory !== undefined)
    throw new TypeError("bindRequest: uploads.directory has an effect only with storage: 'disk'; add that.");
  if (storage !== 'disk') return undefined;
  try {
    mkdirSync(directory, { recursive: true });
    // Only making something tells whether it can be written to.
    rmdirSync(mkdtempSync(join(directory, PREFIX)));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const mistake =
      `bindRequest: the folder for uploads ${JSON.stringify(directory)} cannot be written to (${message}). ` +
      'Name a folder in uploads.directory to which the user of this process may write.';
    // A full disk may have room again, and answers with a problem until then.
    if (code !== 'ENOSPC') throw new TypeError(mistake, { cause });
  }
  return directory;
}

/** Returns the limits of the endpoint, and those of a Multer where they are lower or the only ones. */
function stricter(limits: ResolvedLimits, theirs: FormOptions['limits']): FormOptions['limits'] {
  const { fields, fieldBytes: fieldSize, files, fileBytes: fileSize } = limits;
  const ours = Object.entries({ fields, fieldSize, fieldNameSize: 1_000, files, fileSize });
  const lower = ours.map(([name, value]) => [name, Math.min(value, theirs[name as keyof typeof theirs] ?? Infinity)]);
  return { ...theirs, ...(Object.fromEntries(lower) as FormOptions['limits']) };
}

const MemoryStorage = multer.memoryStorage().constructor;

/** Returns true for multer's storage in memory. Another copy of multer has another class, of the same name. */
const isMemoryStorage = (storage: multer.StorageEngine): boolean =>
  storage instanceof MemoryStorage || storage.constructor.name === 'MemoryStorage';

const isMulter = (uploads: UploadOptions | Multer): uploads is Multer =>
  typeof (uploads as Partial<Multer>).any === 'function';

/**
 * Bytes of a file that may wait in memory for a write to end: the next write takes them all, and each costs 200 µs,
 * however short it is.
 */
const WAITING = 262_144;

/** Stores the files of one form in a folder of their own, which only the user of this process can open. */
class DiskStorage implements multer.StorageEngine {
  private folder: Promise<string> | undefined;
  private isOver = false;

  constructor(private readonly parent: string) {}

  _handleFile(...[, { stream }, done]: Parameters<multer.StorageEngine['_handleFile']>): void {
    this.store(stream).then(stored => done(null, stored), done);
  }

  _removeFile(...[, { path }, done]: Parameters<multer.StorageEngine['_removeFile']>): void {
    unlink(path).then(() => done(null), done);
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
