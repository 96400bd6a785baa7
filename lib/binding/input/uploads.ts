import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Request } from 'express';
import multer, { type Multer } from 'multer';
import type { Awaitable } from '../../basics/awaitable';
import { readForm, type Form, type FormOptions } from '../../body/form/form';
import type { PartsTaken } from '../../body/form/parts';
import { Holding } from '../../body/kept-bytes';
import { makeTemporaryFolder, PREFIX, removeTemporary, storageProblem } from '../../body/temporary-files';
import { ClientGone, isExchangeOver, onExchangeEnd } from '../../http/exchange-end';
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

/**
 * Reads the multipart form of one request, and stores its files. Those that bindonce keeps on disk are removed when the
 * exchange has ended.
 * @param chunksOf returns the bytes of the form, which may be so many.
 * @param parts tells which files are kept, and which are read as fields.
 */
export type ReadUpload = (
  chunksOf: (limit: number) => AsyncIterable<Buffer>,
  req: IncomingMessage,
  res: ServerResponse,
  parts: PartsTaken,
) => Promise<Form>;

/** What removes the files that were stored for a request, while it may still be refused. */
const discards = new WeakMap<IncomingMessage, (() => Promise<unknown>)[]>();

const onRefusal = (req: IncomingMessage, discard: () => Promise<unknown>): unknown =>
  discards.set(req, [...(discards.get(req) ?? []), discard]);

/**
 * Discards the stored files of a request that is refused, by this `bindRequest()` or a later one: they have no owner.
 * Those of a request that is bound belong to its handler, if a Multer of the application has stored them.
 */
export function discardStored(req: IncomingMessage): Awaitable<unknown> {
  const all = discards.get(req);
  discards.delete(req);
  return all && Promise.all(all.map(discard => discard()));
}

/** The properties of a multer instance that are used, which its declarations leave out. */
interface OwnMulter extends Required<Pick<FormOptions, 'storage' | 'fileFilter'>> {
  readonly limits?: FormOptions['limits'] | ((req: IncomingMessage) => FormOptions['limits'] | undefined);
}

/** Another copy of multer has another class, of the same name. */
const MEMORY_STORAGE = multer.memoryStorage().constructor.name;

/**
 * @param uploads where files go, or a Multer of the application, which then owns the files of every request that is
 * bound.
 * @throws TypeError for an invalid option.
 */
export function uploadReader(uploads: UploadOptions | Multer = {}, limits: ResolvedLimits): ReadUpload {
  const directory = isMulter(uploads) ? undefined : directoryFor(uploads);
  // One that is made without options stores files in memory.
  const own = (isMulter(uploads) ? uploads : multer()) as unknown as OwnMulter;
  const ofMemory = own.storage.constructor.name === MEMORY_STORAGE ? 'memory' : undefined;
  // What a Multer of the application stores elsewhere is not held by this process.
  const heldIn = directory === undefined ? ofMemory : 'disk';
  const formBytes = limits.formBytes ?? DEFAULT_FORM_BYTES[heldIn ?? 'disk'];
  return async (chunksOf, req, res, parts) => {
    const holding = new Holding();
    onExchangeEnd(req, res, () => holding.end());
    const take = heldIn && ((bytes: number): void => holding.take(bytes, heldIn));
    try {
      const storage = directory === undefined ? own.storage : await storageIn(directory, req, res);
      const form = await readForm(chunksOf(formBytes), req, {
        ...{ storage, parts, take, fieldsBytes: limits.bodyBytes, fileFilter: own.fileFilter },
        limits: stricter(limits, (typeof own.limits === 'function' ? own.limits(req) : own.limits) ?? {}),
      });
      if (directory === undefined) {
        const remove = promisify(storage._removeFile.bind(storage));
        onRefusal(req, () => Promise.allSettled(form.files.map(file => remove(req as Request, file))));
      }
      return form;
    } catch (error) {
      holding.giveBack();
      // Errors of the file system name the system call that has failed.
      throw directory !== undefined && error instanceof Error && 'syscall' in error ? storageProblem(error) : error;
    }
  };
}

/**
 * Checks where files go, and makes their folder if it does not exist.
 * @returns the folder; undefined for the memory.
 * @throws TypeError for an invalid option, and for a folder that cannot be made or written to.
 */
function directoryFor(uploads: UploadOptions): string | undefined {
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
    const mistake =
      `bindRequest: the folder for uploads ${JSON.stringify(directory)} cannot be written to (${String(cause)}). ` +
      'Name a folder in uploads.directory to which the user of this process may write.';
    throw new TypeError(mistake, { cause });
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

const isMulter = (uploads: UploadOptions | Multer): uploads is Multer =>
  typeof (uploads as Partial<Multer>).any === 'function';

/**
 * Makes the storage of one form: a folder that only the user of this process can open. It is removed when the request
 * is refused, and when its exchange has ended.
 */
async function storageIn(parent: string, req: IncomingMessage, res: ServerResponse): Promise<multer.StorageEngine> {
  const folder = await makeTemporaryFolder(parent);
  const remove = (): Promise<void> => removeTemporary(folder);
  onRefusal(req, remove);
  onExchangeEnd(req, res, () => void remove());
  return multer.diskStorage({
    destination(_req, _file, done) {
      // An earlier middleware (a timeout) may have answered while parts before this file were read.
      if (isExchangeOver(req, res)) throw new ClientGone();
      done(null, folder);
    },
  });
}
