import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import multer, { type Multer } from 'multer';
import { formReader, type Form, type FormSettings } from '../body/form';
import { checkOptions, oneOf } from '../options/check';
import type { IncomingMessage } from 'node:http';
import type { SettledLimits } from './limits';

/** Where uploaded files go. */
export interface UploadOptions {
  /** `'memory'`: each file is a Buffer. `'disk'`: each file has a path, and is removed when the response is over. Default `'memory'`. */
  storage?: 'memory' | 'disk';
  /** Folder for `'disk'`; made when it is not there. Default: the system's temporary folder. */
  directory?: string;
}

/** Reads the multipart form of one request; files of our own on disk are gone when the response is over. */
export type ReadUpload = (source: IncomingMessage, res: ServerResponse) => Promise<Form>;

/** @param uploads where files go, or a Multer of the application's own: its storage, filter and limits are used, and its files are its own to remove. */
export function uploadReader(uploads: UploadOptions | Multer = {}, limits: SettledLimits): ReadUpload {
  if (isMulter(uploads)) return formReader(uploads as FormSettings);
  checkOptions('bindRequest: uploads', uploads, { storage: oneOf('memory', 'disk'), directory: { expects: 'a path', accepts: value => typeof value === 'string' && value !== '' } });
  const { storage = 'memory', directory = tmpdir() } = uploads;
  if (storage === 'disk') mkdirSync(directory, { recursive: true });
  const read = formReader({
    fieldsBytes: limits.bodyBytes,
    storage: storage === 'disk' ? multer.diskStorage({ destination: directory }) : multer.memoryStorage(),
    limits: { fields: limits.fields, fieldSize: limits.fieldBytes, fieldNameSize: 1_000, files: limits.files, fileSize: limits.fileBytes, parts: limits.fields + limits.files },
  });
  return async (source, res) => {
    const form = await read(source);
    removeWithResponse(form, res);
    return form;
  };
}

function removeWithResponse({ files }: Form, res: ServerResponse): void {
  const paths = files.flatMap(({ path }: { readonly path?: string }) => path ?? []);
  const remove = (): void => { void Promise.allSettled(paths.map(path => rm(path, { force: true }))); };
  if (paths.length === 0) return;
  if (res.destroyed) remove();
  else res.once('close', remove);
}

function isMulter(uploads: UploadOptions | Multer): uploads is Multer {
  return typeof (uploads as Partial<Multer>).any === 'function';
}
