import type { IncomingMessage, ServerResponse } from 'node:http';
import multer, { type Multer } from 'multer';
import type { Awaitable } from '../../basics/awaitable';
import type { Form, FormOptions, PartsTaken } from '../../body/form/form';
import { storageProblem } from '../../body/spool/temporary-folder';
import { filesHeldIn, holdingOf, type HeldIn } from '../../body/stream/holding';
import { onExchangeEnd } from '../../http/exchange-end';
import { checkOptions, oneOf } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import { DEFAULT_FORM_BYTES, type ResolvedLimits } from '../reading/limits';
import { DiskStorage, uploadDirectory } from './disk-storage';

/** Where uploaded files go. */
export interface UploadOptions {
  /**
   * `'memory'`: each file is a Buffer. `'disk'`: each file has a path, which only the user of this process can open,
   * and is removed when the response has ended. Default `'memory'`.
   */
  storage?: 'memory' | 'disk';
  /** Folder for `'disk'`; created if it does not exist. Default: the system's temporary folder. */
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

/** How one form is stored. */
interface Storing extends Pick<FormOptions, 'storage' | 'limits' | 'fileFilter'> {
  /** Where bindonce holds the files, for its limits; undefined if a Multer of the application stores them. */
  readonly heldIn: HeldIn | undefined;
  /** True for files that are removed when the exchange has ended. */
  readonly isTemporary: boolean;
  /** Removes the stored files. */
  readonly discard: (files: Form['files']) => Promise<void>;
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
  const bounds: FormOptions['limits'] = {
    fields: limits.fields,
    fieldSize: limits.fieldBytes,
    fieldNameSize: 1_000,
    files: limits.files,
    fileSize: limits.fileBytes,
  };
  const isOwn = isMulter(uploads);
  const storingFor = isOwn ? ofMulter(uploads, bounds) : ofOptions(uploads, bounds);
  const isInMemory = isOwn ? isMemoryStorage((uploads as unknown as OwnMulter).storage) : uploads.storage !== 'disk';
  const formBytes = limits.formBytes ?? DEFAULT_FORM_BYTES[isInMemory ? 'memory' : 'disk'];
  const readUpload: ReadUpload = async (read, req, res, parts) => {
    const { heldIn, isTemporary, discard, ...settings } = storingFor(req);
    const holding = holdingOf(req, res);
    const take = (bytes: number): void => {
      if (heldIn) holding.take(bytes, heldIn);
    };
    if (isTemporary) onExchangeEnd(req, res, () => void discard([]));
    try {
      const form = await read({ ...settings, fieldsBytes: limits.bodyBytes, formBytes, parts, take });
      stored.set(req, [...(stored.get(req) ?? []), () => discard(form.files)]);
      return form;
    } catch (error) {
      holding.giveBack();
      await discard([]);
      // Errors of the file system name the system call that has failed.
      throw isTemporary && error instanceof Error && 'syscall' in error ? storageProblem(error) : error;
    }
  };
  return { readUpload, formBytes };
}

function ofOptions(uploads: UploadOptions, limits: FormOptions['limits']): () => Storing {
  if ('_handleFile' in uploads)
    throw new TypeError('bindRequest: uploads must be a Multer; give multer({ storage }) instead of the storage.');
  checkOptions('bindRequest: uploads', uploads, {
    storage: oneOf('memory', 'disk'),
    directory: { expects: 'a path', accepts: value => typeof value === 'string' && value !== '' },
  });
  if (uploads.directory !== undefined && uploads.storage !== 'disk')
    throw new TypeError("bindRequest: uploads.directory has an effect only with storage: 'disk'; add that.");
  if (uploads.storage !== 'disk') {
    const storage = multer.memoryStorage();
    return () => ({ storage, limits, heldIn: 'memory', isTemporary: false, discard: () => Promise.resolve() });
  }
  const directory = uploadDirectory(uploads.directory);
  return () => {
    const storage = new DiskStorage(directory);
    return { storage, limits, heldIn: filesHeldIn(directory), isTemporary: true, discard: () => storage.remove() };
  };
}

/** The properties of a multer instance that are used, which its declarations leave out. */
type OwnMulter = Pick<FormOptions, 'storage' | 'fileFilter'> & {
  readonly limits?: FormOptions['limits'] | ((req: IncomingMessage) => FormOptions['limits'] | undefined);
};

function ofMulter(own: Multer, limits: FormOptions['limits']): (req: IncomingMessage) => Storing {
  const { storage, fileFilter, limits: given } = own as unknown as OwnMulter;
  const heldIn = isMemoryStorage(storage) ? 'memory' : undefined;
  return req => ({
    storage,
    limits: stricter(limits, (typeof given === 'function' ? given(req) : given) ?? {}),
    ...(fileFilter && { fileFilter }),
    heldIn,
    isTemporary: false,
    // If the form was refused while it was read, multer has already removed them.
    discard: async files => {
      await Promise.allSettled(files.map(file => removed(storage, req, file)));
    },
  });
}

function stricter(ours: FormOptions['limits'], theirs: FormOptions['limits']): FormOptions['limits'] {
  const bounds = Object.entries(ours).map(([name, value]) => [
    name,
    Math.min(value, theirs[name as keyof typeof theirs] ?? Infinity),
  ]);
  return { ...theirs, ...(Object.fromEntries(bounds) as FormOptions['limits']) };
}

/** Removes a file by the storage that has it; a warning tells of one that could not be removed. */
async function removed(storage: multer.StorageEngine, req: IncomingMessage, file: Express.Multer.File): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      storage._removeFile(req as Parameters<multer.StorageEngine['_removeFile']>[0], file, error => {
        if (error) reject(error);
        else resolve();
      });
    });
  } catch (error) {
    // A storage of the application's own may have set no path.
    const which = (file as Partial<typeof file>).path ?? JSON.stringify(file.originalname);
    warnOnce(
      'BINDONCE_UPLOAD_LEFT',
      `bindRequest: the storage in \`uploads\` could not remove ${which} of a refused request ` +
        `(${error instanceof Error ? error.message : String(error)}). ` +
        'Remove the file, and correct _removeFile of that storage.',
      which,
    );
  }
}

const MemoryStorage = multer.memoryStorage().constructor;

/** Returns true for multer's storage in memory. Another copy of multer has another class, of the same name. */
const isMemoryStorage = (storage: multer.StorageEngine): boolean =>
  storage instanceof MemoryStorage || storage.constructor.name === 'MemoryStorage';

const isMulter = (uploads: UploadOptions | Multer): uploads is Multer =>
  typeof (uploads as Partial<Multer>).any === 'function';
