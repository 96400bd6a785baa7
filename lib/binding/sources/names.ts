import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem } from '../../problems/problem';
import type { BinderContext, Put, ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { convertedText } from '../reading/json-text';
import { Location } from '../reading/location';
import { JsonPart, NameTree, partsOf, UNREADABLE } from '../reading/name-tree';
import { notNull } from '../types/codec';
import { failUnknown } from '../types/read-json';
import { isSent, readNames } from '../types/read-names';

type SentPair = Pair | readonly [name: string, file: Express.Multer.File, mark?: undefined];

/** The fields of a form and the files of a multipart form; names are case-insensitive. */
export const form: ValueSource = {
  name: 'form',
  read(context, properties, put) {
    const { body } = context;
    const sent = body?.kind === 'form' || body?.kind === 'text' ? body.form : undefined;
    const files = sent?.files.map((file): SentPair => [file.fieldname, file]) ?? [];
    readByName('form', sent ? [...sent.fields, ...files] : [], context, properties, put);
  },
};

/** Route parameters; names are case-insensitive. A wildcard is a list of segments in Express 5, text in Express 4. */
export const route: ValueSource = {
  name: 'route',
  missing: 'This route parameter is required.',
  read(context, properties, put) {
    const pairs: Pair[] = [];
    for (const [name, value] of Object.entries(context.req.params as Readonly<Record<string, unknown>>)) {
      const text = Array.isArray(value) ? value.join('/') : convertedText(value);
      const takesItems = properties.some(one => one.anyCase === name.toLowerCase() && hasItems(one));
      if (Array.isArray(value) && takesItems)
        pairs.push(...value.map((segment): Pair => [`${name}[]`, String(segment)]));
      else if (text !== undefined) pairs.push([name, text]);
    }
    readByName('route', pairs, context, properties, put);
  },
};

function hasItems({ codec }: SourceProperty): boolean {
  const type = notNull(codec);
  return type.kind === 'list' || (type.kind === 'schema' && type.json.takes.has('array'));
}

/** Query parameters; names are case-insensitive. */
export const query: ValueSource = {
  name: 'query',
  missing: 'This query parameter is required.',
  read(context, properties, put) {
    const { url } = context.req;
    const mark = url.indexOf('?');
    const pairs = mark < 0 ? [] : queryIn(url.slice(mark + 1), context.endpoint.options.limits.fields);
    readByName('query', pairs, context, properties, put);
  },
};

/**
 * Reads the query from the URL: the form of `req.query` depends on the application's query parser.
 * @throws a 414 problem for too many parameters.
 */
function queryIn(text: string, limit: number): readonly Pair[] {
  try {
    return readPairs(text, limit);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'body-too-large') throw error;
    throw new Problem('query-too-large', `There are more than ${limit} query parameters.`, { cause: error });
  }
}

/** Reads properties by their case-insensitive names. A property that takes all names gets the whole tree. */
function readByName(
  source: 'form' | 'route' | 'query',
  pairs: readonly SentPair[],
  context: BinderContext,
  properties: readonly SourceProperty[],
  put: Put,
): void {
  const { noted, endpoint } = context;
  if (pairs.length === 0 && !properties.some(({ isRoot }) => isRoot)) return;
  const { depth: limit } = endpoint.options.limits;
  const root = new NameTree();
  for (const [name, value, mark] of pairs) {
    const parts = partsOf(name);
    // Also under an undeclared name: decoded, it might be a declared one.
    if (mark === 'unreadable') {
      const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
      Location.of(noted, source, name).fail('invalid', detail);
      root.add({ name, parts, value: UNREADABLE, taken: true });
    } else if (parts.length > limit + 1)
      Location.of(noted, source, name).fail('too-deep', `The name has more than ${limit} levels.`, { limit });
    else if (name !== '')
      root.add({ name, parts, value: mark === 'json' && value.trim() !== '' ? new JsonPart(value) : value });
  }
  for (const property of properties) {
    const { codec, name, isRoot } = property;
    const tree = isRoot ? root : root.at(name);
    const at = Location.of(noted, source, name);
    // An undeclared name below is no value of this one. A required object that takes all names exists without any.
    if (tree && (isRoot || isSent(codec, tree, at))) put(property, readNames(property, tree, at));
  }
  // A route has the parameters that its path declares.
  if (noted.refusesUnknown && source !== 'route')
    for (const name of root.others()) failUnknown(Location.of(noted, source, name));
}
