import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import multer, { type Multer } from 'multer';
import { onExchangeEnd } from '../../http/exchange-end';
import { formReader, type Form, type FormSettings } from '../../body/form';
import { checkOptions, oneOf } from '../../options/check';
import type { IncomingMessage } from 'node:http';
import type { SettledLimits } from '../limits';

/** Where uploaded files go. */
export interface UploadOptions {
  /** `'memory'`: each file is a Buffer. `'disk'`: each file has a path, and is removed when the response is over. Default `'memory'`. */
  storage?: 'memory' | 'disk';
  /** Folder for `'disk'`; made when it is not there. Default: the system's temporary folder. */
  directory?: string;
}

/**
 * Reads the multipart form of one request; files of our own on disk are gone when the response is over.
 * @param source what the form is read from: the request, or bytes that stand for it.
 * @param takesFile false for a file that nobody asks for; it is not kept.
 */
export type ReadUpload = (source: IncomingMessage, req: IncomingMessage, res: ServerResponse, takesFile: (name: string) => boolean) => Promise<Form>;

/** @param uploads where files go, or a Multer of the application's own: its storage, filter and limits are used, and its files are its own to remove. */
export function uploadReader(uploads: UploadOptions | Multer = {}, limits: SettledLimits): ReadUpload {
  if (isMulter(uploads)) {
    const readOwn = formReader({ formBytes: limits.formBytes, ...uploads as FormSettings });
    return source => readOwn(source);
  }
  if ('_handleFile' in uploads) throw new TypeError('bindRequest: uploads must be a Multer; give multer({ storage }) in place of the storage.');
  checkOptions('bindRequest: uploads', uploads, { storage: oneOf('memory', 'disk'), directory: { expects: 'a path', accepts: value => typeof value === 'string' && value !== '' } });
  const { storage = 'memory', directory = tmpdir() } = uploads;
  if (storage === 'disk') mkdirSync(directory, { recursive: true });
  const read = formReader({
    fieldsBytes: limits.bodyBytes,
    formBytes: limits.formBytes,
    storage: storage === 'disk' ? multer.diskStorage({ destination: directory }) : multer.memoryStorage(),
    limits: { fields: limits.fields, fieldSize: limits.fieldBytes, fieldNameSize: 1_000, files: limits.files, fileSize: limits.fileBytes, parts: limits.fields + limits.files },
  });
  return async (source, req, res, takesFile) => {
    const form = await read(source, takesFile);
    removeWithResponse(form, req, res);
    return form;
  };
}

function removeWithResponse({ files }: Form, req: IncomingMessage, res: ServerResponse): void {
  const paths = files.flatMap(({ path }: { readonly path?: string }) => path ?? []);
  if (paths.length === 0) return;
  onExchangeEnd(req, res, () => { void Promise.allSettled(paths.map(path => rm(path, { force: true }))); });
}

function isMulter(uploads: UploadOptions | Multer): uploads is Multer {
  return typeof (uploads as Partial<Multer>).any === 'function';
}
