import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Multer } from 'multer';
import type { Form, FormOptions, PartsTaken } from '../../body/form/form';
import { holdingOf } from '../../body/stream/holding';
import { storageProblem } from '../../body/spool/storage-problem';
import { onExchangeEnd } from '../../http/exchange-end';
import { DEFAULT_FORM_BYTES, type ResolvedLimits } from '../reading/limits';
import type { Discard } from './refusals';
import { storingWith, type UploadOptions } from './upload-storage';

/** The form of one request, and a function that removes its files if the request is refused. */
interface Upload {
  readonly form: Form;
  readonly discard: Discard;
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
  };
  const { isInMemory, storingFor } = storingWith(uploads, bounds);
  const formBytes = limits.formBytes ?? DEFAULT_FORM_BYTES[isInMemory ? 'memory' : 'disk'];
  const readUpload: ReadUpload = async (read, req, res, parts) => {
    const { settings, heldIn, discard, end } = storingFor(req);
    const holding = holdingOf(req, res);
    const take = (bytes: number): void => {
      if (heldIn) holding.take(bytes, heldIn);
    };
    if (end) onExchangeEnd(req, res, end);
    try {
      const form = await read({ ...settings, fieldsBytes: limits.bodyBytes, formBytes, parts, take });
      return { form, discard: () => discard(form.files) };
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
