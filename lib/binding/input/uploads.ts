import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import multer, { type Multer } from 'multer';
import type { Form, FormOptions } from '../../body/form';
import { holdingOf, type HeldIn } from '../../body/holding';
import type { PartsTaken } from '../../body/parts';
import { storageProblem } from '../../body/storage-problem';
import { onExchangeEnd } from '../../http/exchange-end';
import { checkOptions, oneOf } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import { DEFAULT_FORM_BYTES, type ResolvedLimits } from '../reading/limits';
import { DiskStorage } from './disk-storage';

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

/** The form of one request, and a function that removes its files if the request is refused. */
export interface Upload {
  readonly form: Form;
  readonly discard: () => void;
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
) => Promise<Upload>;

/** How one form is stored. */
interface Storing {
  readonly settings: Pick<
    FormOptions,
    'storage' | 'limits' | 'fileFilter' | 'preservePath' | 'defParamCharset' | 'defCharset'
  >;
  /** Where bindonce holds the files, for its limits; undefined if a Multer of the application stores them. */
  readonly heldIn: HeldIn | undefined;
  /** Removes the stored files if the form is refused. */
  readonly discard: (files: Form['files']) => void | Promise<void>;
  /** Removes the stored files when the exchange has ended. */
  readonly end?: () => void;
}

/**
 * @param uploads where files go, or a Multer of the application, which then owns the files of every request that is
 * bound.
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
    parts: limits.fields + limits.files,
  };
  const { isInMemory, storingFor } = isMulter(uploads) ? ownStoring(uploads, bounds) : builtInStoring(uploads, bounds);
  const formBytes = limits.formBytes ?? DEFAULT_FORM_BYTES[isInMemory ? 'memory' : 'disk'];
  const readUpload: ReadUpload = async (read, req, res, parts) => {
    const { settings, heldIn, discard, end } = storingFor(req);
    const holding = holdingOf(req, res);
    const take = (bytes: number): void => {
      if (heldIn) holding.take(heldIn, bytes);
    };
    if (end) onExchangeEnd(req, res, end);
    try {
      const form = await read({ ...settings, fieldsBytes: limits.bodyBytes, formBytes, parts, take });
      return {
        form,
        discard: () => {
          void discard(form.files);
        },
      };
    } catch (error) {
      holding.giveBack();
      await discard([]);
      throw end && isOfTheSystem(error) ? storageProblem(error) : error;
    }
  };
  return { readUpload, formBytes };
}

/** Returns true if an error comes from the file system: those name the failed system call. */
function isOfTheSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

interface StoringFor {
  readonly isInMemory: boolean;
  readonly storingFor: (req: IncomingMessage) => Storing;
}

function builtInStoring(uploads: UploadOptions, limits: FormOptions['limits']): StoringFor {
  if ('_handleFile' in uploads)
    throw new TypeError('bindRequest: uploads must be a Multer; give multer({ storage }) instead of the storage.');
  checkOptions('bindRequest: uploads', uploads, {
    storage: oneOf('memory', 'disk'),
    directory: { expects: 'a path', accepts: value => typeof value === 'string' && value !== '' },
  });
  if (uploads.directory !== undefined && uploads.storage !== 'disk')
    throw new TypeError("bindRequest: uploads.directory has an effect only with storage: 'disk'; add that.");
  const { storage = 'memory', directory = tmpdir() } = uploads;
  if (storage === 'memory') {
    const inMemory: Storing = {
      settings: { storage: multer.memoryStorage(), limits },
      heldIn: 'memory',
      discard: () => undefined,
    };
    return { isInMemory: true, storingFor: () => inMemory };
  }
  mkdirSync(directory, { recursive: true });
  return {
    isInMemory: false,
    storingFor() {
      const onDisk = new DiskStorage(directory);
      const discard = (): Promise<void> => onDisk.remove();
      return {
        settings: { storage: onDisk, limits },
        heldIn: 'disk',
        discard,
        end: () => {
          void discard();
        },
      };
    },
  };
}

/** The properties of a multer instance, which its declarations leave out. */
type OwnMulter = Omit<FormOptions, 'limits'> & {
  readonly limits?: FormOptions['limits'] | ((req: IncomingMessage) => FormOptions['limits'] | undefined);
};

function ownStoring(own: Multer, limits: FormOptions['limits']): StoringFor {
  const { storage, fileFilter, preservePath, defParamCharset, defCharset, limits: given } = own as unknown as OwnMulter;
  const isInMemory = storage.constructor.name === 'MemoryStorage';
  return {
    isInMemory,
    storingFor: req => ({
      settings: {
        storage,
        limits: stricter(limits, (typeof given === 'function' ? given(req) : given) ?? {}),
        ...(fileFilter && { fileFilter }),
        ...(preservePath !== undefined && { preservePath }),
        ...(defParamCharset !== undefined && { defParamCharset }),
        ...(defCharset !== undefined && { defCharset }),
      },
      heldIn: isInMemory ? 'memory' : undefined,
      // If the form was refused while it was read, multer has already removed them.
      discard: files => {
        for (const file of files) removeStored(storage, req, file);
      },
    }),
  };
}

function stricter(ours: FormOptions['limits'], theirs: FormOptions['limits']): FormOptions['limits'] {
  const bounds = Object.entries(ours).map(([name, value]) => [
    name,
    Math.min(value, theirs[name as keyof typeof theirs] ?? Infinity),
  ]);
  return { ...theirs, ...(Object.fromEntries(bounds) as FormOptions['limits']) };
}

function removeStored(storage: multer.StorageEngine, req: IncomingMessage, file: Express.Multer.File): void {
  const failed = (error: unknown): void => {
    warnOnce(
      'BINDONCE_UPLOAD_LEFT',
      `bindRequest: the storage in \`uploads\` could not remove a file of a refused request (${error instanceof Error ? error.message : String(error)}).`,
    );
  };
  try {
    storage._removeFile(req as Parameters<multer.StorageEngine['_removeFile']>[0], file, error => {
      if (error) failed(error);
    });
  } catch (error) {
    failed(error);
  }
}

function isMulter(uploads: UploadOptions | Multer): uploads is Multer {
  return typeof (uploads as Partial<Multer>).any === 'function';
}
