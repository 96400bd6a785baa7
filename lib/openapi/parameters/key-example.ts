import { ignoreRejection, isPromise, isThenable } from '../../basics/awaitable';
import { Failures } from '../../binding/reading/failures';
import { resolveLimits } from '../../binding/reading/limits';
import { INVALID, Location } from '../../binding/reading/location';
import { notNull, type Codec } from '../../binding/types/codec';
import { readJson } from '../../binding/types/read-json';
import { readText } from '../../binding/types/read-text';
import type { JsonSchema } from '../../binding/types/json-schema';
import { isKey } from '../../idempotency/identity/key';
import type { ResolvedOptions } from '../../idempotency/options/resolved-options';
import { warnOnce } from '../../warnings/warn-once';
import { exampleJson } from '../schemas/example-json';
import { typesOf } from '../schemas/value-types';

/** An example of a key: what the application made, and the JSON that the document holds for it. */
export interface KeyExample {
  readonly made: unknown;
  readonly json: unknown;
}

/**
 * Makes the example of the key; undefined if there is none.
 * @throws TypeError if the function of the application fails, or returns what no header can be.
 */
export function keyExample({ swaggerExampleGenerator: make }: ResolvedOptions): KeyExample | undefined {
  if (!make) return undefined;
  let made: unknown;
  try {
    made = make();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`swaggerExampleGenerator threw: ${reason}`, { cause: error });
  }
  if (made === undefined || made === null) return undefined;
  if (isThenable(made)) {
    ignoreRejection(made);
    throw new TypeError(
      'swaggerExampleGenerator returned a promise, and the document is made without waiting. Return the example ' +
        'itself.',
    );
  }
  try {
    return { made, json: exampleJson(made) };
  } catch (error) {
    throw new TypeError(
      `swaggerExampleGenerator returned what is not an example of a header: ${(error as Error).message}. Return ` +
        'text, a number, true or false, a list or an object, or undefined for none.',
    );
  }
}

/**
 * Returns an example in the form that the schema of the key describes: for text, `42` is `"42"`. Undefined, with a
 * process warning, if there is none, or if a request with that key would be refused: clients copy examples.
 * @param codecs of the types that the key is read by.
 */
export function fittingExample(
  { json }: KeyExample,
  schema: JsonSchema,
  codecs: readonly Codec[],
  { headerName, keyPattern }: ResolvedOptions,
): unknown {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  // A list is also read from one value, and from values with commas.
  const items = text.split(',').map(item => parsed(item.trim()));
  const fitting = [json, text, parsed(text), items, items.map(String)].find(
    form => isOfType(schema, form) && codecs.every(codec => isRead(location => fromJson(codec, form, location))),
  );
  // How lists and objects are written in a header is left to the client.
  const isSent = typeof json === 'object' || isKey(text, keyPattern);
  if (fitting !== undefined && isSent) return fitting;
  warnOnce(
    'BINDONCE_KEY_EXAMPLE',
    `openapi: the example ${JSON.stringify(json)} of the header ${headerName} is left out, because ` +
      `${isSent ? 'it is not a value of the type of the header' : 'idempotency() refuses it as a key'}. Let ` +
      'swaggerExampleGenerator make another.',
    headerName,
  );
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function isOfType(schema: JsonSchema, json: unknown): boolean {
  const type = json === null ? 'null' : Array.isArray(json) ? 'array' : typeof json;
  return schema['$ref'] !== undefined || typesOf(schema).includes(type);
}

/** A value parser reads text, and its schema says so. */
const fromJson = (codec: Codec, json: unknown, location: Location): unknown =>
  'schemaOfText' in notNull(codec) ? textFor(codec, String(json), location) : readJson(codec, json, location);

/** UUIDs as the page of `apiDocs()` makes them, of the lowest and of the highest digits. */
const UUIDS = ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-8fff-ffffffffffff'];

/**
 * Returns true if any UUID may be a key.
 * @param codecs of the types that the key is read by.
 */
export const takesUuids = (codecs: readonly Codec[], { keyPattern }: ResolvedOptions): boolean =>
  UUIDS.every(
    uuid => isKey(uuid, keyPattern) && codecs.every(codec => isRead(location => textFor(codec, uuid, location))),
  );

const textFor = (codec: Codec, text: string, location: Location): unknown =>
  readText({ codec, required: true }, [text], location);

/** Returns true if a value is read without a failure. Of a type that takes its time, that is not known here. */
function isRead(read: (location: Location) => unknown): boolean {
  const failures = new Failures(resolveLimits());
  try {
    const value = read(Location.at(failures, 'header', ''));
    ignoreRejection(value);
    return isPromise(value) || (value !== INVALID && failures.list.length === 0);
  } catch {
    return false;
  }
}
