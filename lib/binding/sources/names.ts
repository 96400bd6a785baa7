import { readPairs, type Pair } from '../../body/content/urlencoded';
import { Problem } from '../../problems/problem';
import type { BinderContext, ValueSource } from '../input/binder-context';
import type { SourceProperty } from '../plan/source-properties';
import { convertedText } from '../reading/json-text';
import { INVALID } from '../reading/location';
import { firstPart, NameTree, type Sent } from '../reading/name-tree';
import { notNull } from '../types/codec';
import { failUnknown } from '../types/read-json';
import { isSent, readNames } from '../types/read-names';

/** A name and the value sent under it, and what is to be known about them, as in `Pair`. */
type SentPair = readonly [name: string, value: Sent, mark?: Pair[2], file?: string];

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
  const tree = takesItems ? NameTree.ofItems(segments) : new NameTree([segments.join('/')]);
  return readNames(member.codec, tree, at, member.required);
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
  const { depth } = options.limits;
  // A route has the parameters that its path declares, and one value is read without a dto.
  const refusesUnknown = options.unknownNames === 'refuse' && source !== 'route' && plan !== undefined;
  const takesAll = refusesUnknown || members.some(({ isRoot }) => isRoot);
  if (pairs.length === 0 && !takesAll) return;
  const root = new NameTree();
  let undecodable: Set<string> | undefined;
  for (const [name, value, mark] of pairs)
    if (mark === 'unreadable') (undecodable ??= new Set()).add(refuseUndecodable(source, name, context));
    // A level takes at least two characters.
    else if (name.length > 2 * depth && name.split(/[.[]/, depth + 2).length > depth + 1)
      refuseLevels(source, name, context);
    else if (takesAll || isDeclared(members, name)) root.add(name, value);
  for (const member of members) {
    const { index, codec, required, name, isRoot } = member;
    // Such a value was sent: the property is not missing in another source.
    if (undecodable?.has(firstPart(name)) && !isRoot) values[index] = INVALID;
    const tree = isRoot ? root : root.take(name);
    const at = context.locationOf(source, name);
    // An undeclared name below is no value of this one.
    if (!tree || !(isRoot || isSent(codec, tree, at))) continue;
    // A required object that takes all names exists even if none of them was sent.
    context.put(values, member, readNames(codec, tree, at, required));
  }
  if (refusesUnknown) for (const name of root.others()) failUnknown(context.locationOf(source, name));
}

/** Returns false for a name that surely is of no property: it needs no place in a tree. */
function isDeclared(members: readonly SourceProperty[], name: string): boolean {
  const first = firstPart(name);
  return members.some(member => member.anyCase.startsWith(first));
}

/**
 * Refuses a name or value that cannot be decoded, even under an unknown name: decoded, it might be a declared one.
 * @returns the name of the property that it is meant for.
 */
function refuseUndecodable(source: Named, name: string, context: BinderContext): string {
  const detail = 'The percent-encoding is not valid UTF-8; a percent sign itself is sent as %25.';
  context.locationOf(source, name).fail('invalid', detail);
  context.noted.closeLast();
  return firstPart(name);
}

/** Refuses a name of too many levels, even an undeclared one: no client sends one by mistake. */
function refuseLevels(source: Named, name: string, context: BinderContext): void {
  const { depth: limit } = context.endpoint.options.limits;
  context.locationOf(source, name).fail('too-deep', `The name has more than ${limit} levels.`, { limit });
}
