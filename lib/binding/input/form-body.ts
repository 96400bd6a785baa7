import type { IncomingMessage } from 'node:http';
import { formLeftAsText, tooManyFields } from '../../body/content/errors';
import { valuesByName, type Form, type PartsTaken } from '../../body/form/form';
import { readForm } from '../../body/form/read-form';
import { isUntouched, receivedAsForm } from '../../body/receive';
import { checkDeclaredLength, chunksOf } from '../../body/stream/chunks';
import { openReceived, type Received } from '../../body/stream/received';
import { readPairs, type Pair } from '../../body/content/urlencoded';
import { after, type Awaitable } from '../../basics/awaitable';
import { convertedText } from '../reading/converted-text';
import type { ResolvedLimits } from '../reading/limits';
import { textIn } from './body-text';
import type { Incoming } from './incoming';
import { onRefusal } from './refusals';
import type { FormReader } from './uploads';

/**
 * Returns true if a form can go straight from the connection to where its files are stored: no one else has read it or
 * needs it.
 */
export function canBeStreamed({ req, kind, use }: Incoming): boolean {
  return kind === 'multipart' && !use.text && isUntouched(req);
}

/**
 * Reads a multipart form from the connection. Returns undefined for a chunked body without a byte, which is no body.
 * @throws a 400 or 413 problem.
 */
export async function streamForm(incoming: Incoming): Promise<Form | undefined> {
  const { req, options } = incoming;
  try {
    checkDeclaredLength(req, options.formBytes);
    const rest = chunksOf(req, options.formBytes);
    const first = await rest.next();
    if (first.done) return undefined;
    const chunks = startingWith(first.value, rest);
    const parts = partsNoting(incoming);
    const form = await readUpload(incoming, formOptions => readForm(chunks, req, { ...formOptions, parts }));
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
  return incoming.kind === 'multipart' ? multipartIn(received, incoming) : urlEncodedIn(received, incoming);
}

/** The files of each form that were not stored, by their names, and whether they were JSON. */
const notStored = new WeakMap<IncomingMessage, Map<string, boolean>>();

/** Notes the files that are not stored: they are lost for everyone who reads the form later. */
function partsNoting({ req, use }: Incoming): PartsTaken {
  const jsonNames = new Set<string>();
  return {
    takesJson(name) {
      jsonNames.add(name);
      return use.takesJson(name);
    },
    takesFile(name) {
      if (use.takesFile(name)) return true;
      const names = notStored.get(req) ?? new Map<string, boolean>();
      notStored.set(req, names.set(name, jsonNames.has(name)));
      return false;
    },
  };
}

/** @throws Error if the dto declares a file that an earlier `bindRequest()` has not stored: no client is to blame. */
function checkStored({ req, use }: Incoming): void {
  for (const [name, isJson] of notStored.get(req) ?? [])
    if (use.bindsFile(name) || (isJson && use.takesJson(name)))
      throw new Error(
        `bindRequest: the file ${JSON.stringify(name.slice(0, 80))} was sent, and is lost: an earlier ` +
          'bindRequest() has read the form for another dto, which does not declare it. Declare it there, too, for ' +
          'example as optional(file), or put the bindRequest() of this dto first.',
      );
}

function multipartIn(received: Received, incoming: Incoming): Awaitable<Form> {
  switch (received.kind) {
    case 'none':
      return { fields: [], files: [] };
    case 'parsed':
      if (typeof received.body === 'string') throw formLeftAsText();
      checkStored(incoming);
      return { fields: boundedPairs(received.body, incoming.options.limits), files: received.files };
    case 'bytes':
    case 'file':
      return readUpload(incoming, formOptions => readForm(openReceived(received), incoming.req, formOptions));
  }
}

function urlEncodedIn(received: Received, { mediaType, options: { limits } }: Incoming): Awaitable<Form> {
  if (received.kind === 'parsed' && typeof received.body !== 'string')
    return { fields: boundedPairs(received.body, limits), files: [] };
  return after(textIn(received, mediaType, limits), text => ({ fields: readPairs(text, limits.fields), files: [] }));
}

async function readUpload({ req, res, use, options }: Incoming, read: FormReader): Promise<Form> {
  const { form, discard } = await options.readUpload(read, req, res, use);
  onRefusal(req, discard);
  return form;
}

function boundedPairs(body: unknown, { fields }: ResolvedLimits): Pair[] {
  const pairs = body instanceof URLSearchParams ? [...body] : flatPairs(asObject(body));
  if (pairs.length > fields) throw tooManyFields(fields);
  return pairs;
}

/** @throws Error for an object that keeps its values elsewhere than in properties: a form would seem to have none. */
function asObject(body: unknown): unknown {
  const isCollection = typeof body === 'object' && body !== null && !Array.isArray(body) && Symbol.iterator in body;
  if (!isCollection) return body;
  throw new Error(
    `bindRequest: req.body holds the form as a ${body.constructor.name}, whose values bindRequest() cannot read. ` +
      'Mount it before the middleware that reads the form, or let that leave an object of names and values.',
  );
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
    return entries.length === 1 ? [[name, item, 'item']] : [[name, item]];
  });
}
