import type { IncomingMessage, ServerResponse } from 'node:http';
import { asRequest, type Form } from '../../body/form';
import type { BodyKind, MediaType } from '../../body/media-type';
import { readPairs, type Pair } from '../../body/pairs';
import { refuseRest } from '../../body/read';
import { isUntouched, openReceived, receive } from '../../body/received';
import { Problem } from '../../problems/problem';
import { textIn } from './body-text';
import type { SettledLimits } from '../limits';
import type { Settings } from '../settings';

/** A request that has a form to be read. */
interface IncomingForm {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly mediaType: MediaType;
  readonly kind: BodyKind;
  readonly use: { readonly takesFile: (name: string) => boolean };
  readonly settings: Settings;
}

/** Reads a form, urlencoded or multipart. @throws a 400 or 413 problem. */
export async function readForm(form: IncomingForm): Promise<Form> {
  return form.kind === 'multipart' ? readMultipart(form) : { fields: await readUrlEncoded(form), files: [] };
}

async function readUrlEncoded({ req, res, mediaType, settings: { limits } }: IncomingForm): Promise<Pair[]> {
  const received = await receive(req, res, limits.bodyBytes);
  if (received.kind === 'parsed' && typeof received.body !== 'string') return boundedPairs(received.body, limits);
  return readPairs(await textIn(received, mediaType, limits), limits.fields);
}

/** A form that nobody has read goes straight from the connection to where files are to be stored. */
async function readMultipart({ req, res, use, settings: { readUpload, limits } }: IncomingForm): Promise<Form> {
  if (isUntouched(req)) {
    if (Number(req.headers['content-length'] ?? 0) > limits.formBytes) throw refuseRest(req, limits.formBytes);
    return readUpload(req, req, res, use.takesFile);
  }
  const received = await receive(req, res, Number.MAX_SAFE_INTEGER);
  switch (received.kind) {
    case 'none': return { fields: [], files: [] };
    case 'parsed': return { fields: boundedPairs(received.body, limits), files: received.files };
    case 'bytes':
    case 'file': return readUpload(asRequest(openReceived(received), req), req, res, use.takesFile);
  }
}

function boundedPairs(body: unknown, { fields }: SettledLimits): Pair[] {
  const pairs = flatPairs(body);
  if (pairs.length > fields) throw new Problem('body-too-large', `There are more than ${fields} values.`);
  return pairs;
}

/** What a form parser before us has nested, flat again: `{ a: { b: ['1', '2'] } }` is `a[b]=1&a[b]=2`. */
function flatPairs(value: unknown, name = ''): Pair[] {
  if (typeof value === 'string') return [[name, value]];
  // Of an array, too, only what is there: multer makes one of 4 294 967 294 holes out of `t[4294967294]=x`.
  return Object.entries(value ?? {}).flatMap(([key, child]) => flatPairs(child, name === '' ? key : Array.isArray(value) && typeof child === 'string' ? name : `${name}[${key}]`));
}
