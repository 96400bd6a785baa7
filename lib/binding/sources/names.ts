import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem } from '../../problems/problem';
import type { BinderContext, ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { convertedText } from '../reading/json-text';
import { JsonPart, NameTree, partsOf, UNREADABLE, type SentName } from '../reading/name-tree';
import { notNull } from '../types/codec';
import { failUnknown } from '../types/read-json';
import { isSent, readNames } from '../types/read-names';

type SentPair = Pair | readonly [name: string, file: Express.Multer.File, mark?: undefined];

type Named = 'form' | 'route' | 'query';

/** The fields of a form and the files of a multipart form; names are case-insensitive. */
export const form: ValueSource = {
  name: 'form',
  read(context, members, values) {
    const { body } = context;
    const sent = body?.kind === 'form' || body?.kind === 'text' ? body.form : undefined;
    const files = sent?.files.map((file): SentPair => [file.fieldname, file]) ?? [];
    readByName('form', sent ? [...sent.fields, ...files] : [], context, members, values);
  },
};

/** Route parameters; names are case-insensitive. A wildcard is a list of segments in Express 5, text in Express 4. */
export const route: ValueSource = {
  name: 'route',
  missing: 'This route parameter is required.',
  read(context, members, values) {
    const pairs: Pair[] = [];
    for (const [name, value] of Object.entries(context.req.params as Readonly<Record<string, unknown>>)) {
      const text = convertedText(value);
      if (text !== undefined) pairs.push([name, text]);
      if (!Array.isArray(value)) continue;
      for (const member of members.filter(({ anyCase }) => anyCase === name.toLowerCase()))
        context.put(values, member, readSegments(member, value.map(String), context));
    }
    readByName('route', pairs, context, members, values);
  },
};

function readSegments(member: SourceProperty, segments: readonly string[], context: BinderContext): unknown {
  const at = context.locationOf('route', member.name);
  const type = notNull(member.codec);
  const takesItems = type.kind === 'list' || (type.kind === 'schema' && type.json.takes.has('array'));
  const tree = takesItems ? NameTree.of(segments, true) : NameTree.of([segments.join('/')]);
  return readNames(member, tree, at);
}

/** Query parameters; names are case-insensitive. */
export const query: ValueSource = {
  name: 'query',
  missing: 'This query parameter is required.',
  read(context, members, values) {
    readByName('query', queryOf(context), context, members, values);
  },
};

/** The query that was read last: a handler may ask for many values of it, one by one. */
let last: { readonly url: string; readonly limit: number; readonly pairs: readonly Pair[] } | undefined;

/**
 * Reads the query from the URL: the form of `req.query` depends on the application's query parser.
 * @throws a 414 problem for too many parameters.
 */
function queryOf({ req: { url }, endpoint }: BinderContext): readonly Pair[] {
  const limit = endpoint.options.limits.fields;
  const mark = url.indexOf('?');
  if (mark < 0) return [];
  if (last?.url === url && last.limit === limit) return last.pairs;
  try {
    const pairs = readPairs(url.slice(mark + 1), limit);
    last = { url, limit, pairs };
    return pairs;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'body-too-large') throw error;
    throw new Problem('query-too-large', `There are more than ${limit} query parameters.`, { cause: error });
  }
}

/** Reads properties by their case-insensitive names. A property that takes all names gets the whole tree. */
function readByName(
  source: Named,
  pairs: readonly SentPair[],
  context: BinderContext,
  members: readonly SourceProperty[],
  values: unknown[],
): void {
  const { options, plan } = context.endpoint;
  // A route has the parameters that its path declares, and one value is read without a dto.
  const refusesUnknown = options.unknownNames === 'refuse' && source !== 'route' && plan !== undefined;
  if (pairs.length === 0 && !refusesUnknown && !members.some(({ isRoot }) => isRoot)) return;
  const sent: SentName[] = [];
  for (const [name, value, mark] of pairs) {
    const parts = partsOf(name);
    if (mark === 'unreadable') {
      // Also under an unknown name: decoded, it might be a declared one.
      const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
      context.locationOf(source, name).fail('invalid', detail);
      sent.push({ name, parts, value: UNREADABLE, taken: true });
    } else if (parts.length > options.limits.depth + 1) {
      // Also an undeclared one: no client sends it by mistake.
      const { depth: limit } = options.limits;
      context.locationOf(source, name).fail('too-deep', `The name has more than ${limit} levels.`, { limit });
    } else if (parts.length > 0)
      sent.push({ name, parts, value: mark === 'json' && value.trim() !== '' ? new JsonPart(value) : value });
  }
  const root = new NameTree(sent);
  for (const member of members) {
    const { codec, name, isRoot } = member;
    const tree = isRoot ? root : root.at(name);
    const at = context.locationOf(source, name);
    // An undeclared name below is no value of this one. A required object that takes all names exists without any.
    if (tree && (isRoot || isSent(codec, tree, at))) context.put(values, member, readNames(member, tree, at));
  }
  if (refusesUnknown) for (const name of root.others()) failUnknown(context.locationOf(source, name));
}
