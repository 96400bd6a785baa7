import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyTooLarge } from '../../body/errors';
import { valuesByName, type Form } from '../../body/form';
import type { BodyKind, MediaType } from '../../body/media-type';
import { readPairs, type Pair } from '../../body/urlencoded';
import type { PartsTaken } from '../../body/parts';
import { chunksOf } from '../../body/body-chunks';
import { drainRest } from '../../body/drain-rest';
import { isUntouched, receive, receivedAsForm } from '../../body/receive';
import { openReceived } from '../../body/received';
import { Problem } from '../../problems/problem';
import { textIn } from './body-text';
import { onRefusal } from './refusals';
import type { ResolvedLimits } from '../reading/limits';
import type { ResolvedOptions } from './resolved-options';

/** A request that has a form to be read. */
interface IncomingForm {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly mediaType: MediaType;
  readonly kind: BodyKind;
  readonly use: PartsTaken;
  readonly settings: ResolvedOptions;
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
async function readMultipart(form: IncomingForm): Promise<Form> {
  const {
    req,
    res,
    settings: { limits },
  } = form;
  if (isUntouched(req)) return readFromConnection(form);
  const received = await receive(req, res, Number.MAX_SAFE_INTEGER);
  switch (received.kind) {
    case 'none':
      return { fields: [], files: [] };
    case 'parsed':
      return { fields: boundedPairs(received.body, limits), files: received.files };
    case 'bytes':
    case 'file':
      return readUpload(form, openReceived(received));
  }
}

async function readFromConnection(incoming: IncomingForm): Promise<Form> {
  const {
    req,
    res,
    settings: { formBytes },
  } = incoming;
  try {
    if (Number(req.headers['content-length'] ?? 0) > formBytes) throw bodyTooLarge(formBytes);
    const form = await readUpload(incoming, chunksOf(req));
    // What multer leaves for a handler, but flat.
    const body = valuesByName(form);
    receivedAsForm(req, form, body);
    Object.assign(req, { body, files: form.files });
    return form;
  } catch (error) {
    drainRest(req, res);
    throw error;
  }
}

async function readUpload({ req, res, use, settings }: IncomingForm, chunks: AsyncIterable<Buffer>): Promise<Form> {
  const { form, discard } = await settings.readUpload(chunks, req, res, use);
  onRefusal(req, discard);
  return form;
}

function boundedPairs(body: unknown, { fields }: ResolvedLimits): Pair[] {
  const pairs = flatPairs(body);
  if (pairs.length > fields) throw new Problem('body-too-large', `There are more than ${fields} values.`);
  return pairs;
}

/** What a form parser before us has nested, flat again: `{ a: { b: ['1', '2'] } }` is `a[b]=1&a[b]=2`. */
function flatPairs(value: unknown, name = ''): Pair[] {
  if (typeof value === 'string') return [[name, value]];
  // Of an array, too, only what is there: multer makes one of 4 294 967 294 holes out of `t[4294967294]=x`.
  return Object.entries(value ?? {}).flatMap(([key, child]) =>
    flatPairs(child, name === '' ? key : Array.isArray(value) && typeof child === 'string' ? name : `${name}[${key}]`),
  );
}
