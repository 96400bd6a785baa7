import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem } from '../../problems/problem';
import type { BinderContext, Put, ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { convertedText } from '../reading/json-text';
import { Location } from '../reading/location';
import { firstPart, JsonPart, NameTree, partsOf, UNREADABLE } from '../reading/name-tree';
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

/** Query parameters; names are case-insensitive. Too many are a 414 problem. */
export const query: ValueSource = {
  name: 'query',
  missing: 'This query parameter is required.',
  read(context, properties, put) {
    const { url } = context.req;
    const { fields: limit } = context.endpoint.options.limits;
    // The form of `req.query` depends on the application's query parser.
    const text = /\?(.*)/s.exec(url)?.[1] ?? '';
    if (text.split('&', limit + 1).length > limit)
      throw new Problem('query-too-large', `There are more than ${limit} query parameters.`);
    readByName('query', readPairs(text, limit), context, properties, put);
  },
};

/** Reads properties by their case-insensitive names. A property that takes all names gets the whole tree. */
function readByName(
  source: 'form' | 'route' | 'query',
  pairs: readonly SentPair[],
  context: BinderContext,
  properties: readonly SourceProperty[],
  put: Put,
): void {
  const { noted, endpoint } = context;
  const { depth: limit } = endpoint.options.limits;
  // A route has the parameters that its path declares.
  const refusesUnknown = noted.refusesUnknown && source !== 'route';
  const takesAll = refusesUnknown || properties.some(({ isRoot }) => isRoot);
  if (pairs.length === 0 && !takesAll) return;
  const declared = new Set(properties.map(({ name }) => firstPart(name)));
  const root = new NameTree();
  for (const [name, value, mark] of pairs) {
    // These are refused under an undeclared name, too: decoded, it might be a declared one.
    if (mark === 'unreadable') {
      const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
      Location.of(noted, source, name).fail('invalid', detail);
      if (name !== '') root.add({ name, parts: partsOf(name), value: UNREADABLE, taken: true });
      // A level takes at least two characters.
    } else if (name.length > 2 * limit && partsOf(name).length > limit + 1)
      Location.of(noted, source, name).fail('too-deep', `The name has more than ${limit} levels.`, { limit });
    else if (name !== '' && (takesAll || declared.has(firstPart(name)))) {
      const isJson = mark === 'json' && value.trim() !== '';
      root.add({ name, parts: partsOf(name), value: isJson ? new JsonPart(value) : value, taken: false });
    }
  }
  for (const property of properties) {
    const { codec, name, isRoot } = property;
    const tree = isRoot ? root : root.at(name);
    const at = Location.of(noted, source, name);
    // An undeclared name below is no value of this one. A required object that takes all names exists without any.
    if (tree && (isRoot || isSent(codec, tree, at))) put(property, readNames(property, tree, at));
  }
  if (refusesUnknown) for (const name of root.others()) failUnknown(Location.of(noted, source, name));
}
