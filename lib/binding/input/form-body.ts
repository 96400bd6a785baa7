import { valuesByName, type Form } from '../../body/form/form';
import { readForm } from '../../body/form/read-form';
import { formLeftAsText } from '../../body/left-behind';
import { isUntouched, receivedAsForm } from '../../body/receive';
import { chunksOf } from '../../body/stream/chunks';
import type { Received } from '../../body/stream/received';
import { readPairs, tooManyFields, type Pair } from '../../body/content/urlencoded';
import { after, type Awaitable } from '../../basics/awaitable';
import { convertedText } from '../reading/json-text';
import type { ResolvedLimits } from '../reading/limits';
import { textIn, type Incoming } from './incoming';
import type { FormReader } from './uploads';

/**
 * Returns true if a multipart form can go straight from the connection to where its files are stored: no one else has
 * read it or needs it.
 */
export function canBeStreamed({ req, use }: Incoming): boolean {
  return !use.text && isUntouched(req);
}

/**
 * Reads a multipart form from the connection. Returns undefined for a chunked body without a byte, which is no body.
 * @throws a 400 or 413 problem.
 */
export async function streamForm(incoming: Incoming): Promise<Form | undefined> {
  const { req, options } = incoming;
  try {
    const rest = chunksOf(req, options.formBytes);
    const first = await rest.next();
    if (first.done) return undefined;
    const chunks = startingWith(first.value, rest);
    const form = await readUpload(incoming, formOptions => readForm(chunks, req, formOptions));
    // As multer leaves it for a handler, but flat.
    const body = valuesByName(form);
    receivedAsForm(req, form, body);
    Object.assign(req, { body, files: form.files });
    return form;
  } catch (error) {
    req.resume();
    throw error;
  }
}

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  yield* rest;
}

/** Parses a received form, urlencoded or multipart. @throws a 400 or 413 problem. */
export function formIn(received: Received, incoming: Incoming): Awaitable<Form> {
  const { req, kind, mediaType, options } = incoming;
  const { limits } = options;
  if (received.kind === 'none') return { fields: [], files: [] };
  if (received.kind === 'parsed' && typeof received.body !== 'string')
    return { fields: boundedPairs(received.body, limits), files: kind === 'multipart' ? received.files : [] };
  if (kind !== 'multipart')
    return after(textIn(received, mediaType, limits), text => ({ fields: readPairs(text, limits.fields), files: [] }));
  if (received.kind === 'parsed') throw formLeftAsText();
  return readUpload(incoming, formOptions => readForm(received.bytes.pieces(), req, formOptions));
}

const readUpload = ({ req, res, use, options }: Incoming, read: FormReader): Promise<Form> =>
  options.readUpload(read, req, res, use);

/** @throws Error for an object that keeps its values elsewhere than in properties: a form would seem to have none. */
function boundedPairs(body: unknown, { fields }: ResolvedLimits): Pair[] {
  const isCollection = typeof body === 'object' && body !== null && !Array.isArray(body) && Symbol.iterator in body;
  if (isCollection && !(body instanceof URLSearchParams))
    throw new Error(
      `bindRequest: req.body holds the form as a ${body.constructor.name}, whose values bindRequest() cannot read. ` +
        'Mount it before the middleware that reads the form, or let that leave an object of names and values.',
    );
  const pairs = body instanceof URLSearchParams ? [...body] : flatPairs(body);
  if (pairs.length > fields) throw tooManyFields(fields);
  return pairs;
}

/**
 * Flattens the nested form of an earlier parser: `{ a: { b: ['1', '2'] } }` is `a[b]=1&a[b]=2`. An array of one text
 * was sent as `a[]` or `a[0]`, so that the text is one item.
 */
function flatPairs(value: unknown, name = ''): Pair[] {
  const text = convertedText(value);
  if (text !== undefined) return [[name, text]];
  // Only the entries of an array: multer makes one with 4 294 967 294 holes from `t[4294967294]=x`.
  const entries = Object.entries(value ?? {});
  return entries.flatMap(([key, child]) => {
    if (name === '') return flatPairs(child, key);
    const item = Array.isArray(value) ? convertedText(child) : undefined;
    if (item === undefined) return flatPairs(child, `${name}[${key}]`);
    return [[entries.length === 1 ? `${name}[]` : name, item]];
  });
}
