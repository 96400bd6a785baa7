import type { IncomingMessage } from 'node:http';
import multer, { type Multer } from 'multer';
import type { Form, FormOptions } from '../../body/form/form';
import { filesHeldIn, type HeldIn } from '../../body/stream/holding';
import { checkOptions, oneOf } from '../../options/check';
import { warnOnce } from '../../warnings/warn-once';
import { DiskStorage } from './disk-storage';
import { uploadDirectory } from './upload-directory';

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

/** How the forms of one endpoint are stored. */
interface StoringFor {
  readonly isInMemory: boolean;
  readonly storingFor: (req: IncomingMessage) => Storing;
}

/** Makes what stores the forms of one endpoint, within the limits. @throws TypeError for an invalid option. */
export function storingWith(uploads: UploadOptions | Multer, limits: FormOptions['limits']): StoringFor {
  return isMulter(uploads) ? ownStoring(uploads, limits) : builtInStoring(uploads, limits);
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
  if (uploads.storage !== 'disk') {
    const inMemory: Storing = {
      settings: { storage: multer.memoryStorage(), limits },
      heldIn: 'memory',
      discard: () => undefined,
    };
    return { isInMemory: true, storingFor: () => inMemory };
  }
  const directory = uploadDirectory(uploads.directory);
  return {
    isInMemory: false,
    storingFor() {
      const onDisk = new DiskStorage(directory);
      const discard = (): Promise<void> => onDisk.remove();
      return {
        settings: { storage: onDisk, limits },
        heldIn: filesHeldIn(directory),
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

const MemoryStorage = multer.memoryStorage().constructor;

/**
 * Returns true for multer's storage in memory: one of the same class, or of the same name, since another copy of multer
 * has another class. The name alone does not do, since a bundler may change it.
 */
function isMemoryStorage(storage: multer.StorageEngine): boolean {
  return storage instanceof MemoryStorage || storage.constructor.name === 'MemoryStorage';
}

function ownStoring(own: Multer, limits: FormOptions['limits']): StoringFor {
  const { storage, fileFilter, preservePath, defParamCharset, defCharset, limits: given } = own as unknown as OwnMulter;
  const isInMemory = isMemoryStorage(storage);
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
    const reason = error instanceof Error ? error.message : String(error);
    // A storage of the application's own may have set no path.
    const which = (file as Partial<typeof file>).path ?? JSON.stringify(file.originalname);
    warnOnce(
      'BINDONCE_UPLOAD_LEFT',
      `bindRequest: the storage in \`uploads\` could not remove ${which} of a refused request (${reason}). ` +
        'Remove the file, and correct _removeFile of that storage.',
      which,
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
