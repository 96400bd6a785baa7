import type { IncomingMessage } from 'node:http';
import { hasBody, mediaTypeOf } from '../../body/content/headers';
import type { PartsTaken } from '../../body/form/parts';
import { LOCATIONS, type ProblemLocation, type Source } from '../../problems/problem';
import { checkJsonNames, checkType, memberOf, type CodecTable } from '../declaration/codec-table';
import { instancesOf, isDto, namingErrors, propertiesOf } from '../declaration/declarations';
import { specOf, type PropertyKind, type PropertySpec } from '../declaration/property';
import { lowerParts } from '../reading/name-tree';
import { hasFile, membersOf, needsExactNumbers, takesFiles } from '../types/codec';
import type { Codec, Member, ObjectCodec } from '../types/codec';
import { assertType, classNameOf, isSchema, type AnyType } from '../types/property-type';
import { takesJsonAt } from '../types/schema';

/** A property of the dto of a request, as one source supplies it. */
export interface SourceProperty extends Member {
  readonly source: ProblemLocation;
  /** Its place among the members of the plan. */
  readonly index: number;
  /** Name of the value in the source. */
  readonly name: string;
  /** The name in lower case, and the parts of that. */
  readonly anyCase: string;
  readonly parts: readonly string[];
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
  /** The message if a required value is missing there. Default: the usual one. */
  readonly missing: string | undefined;
}

/** The sources of one property, in binding order. That of `plainText` is the body. */
export type SourcesOfProperty = ReadonlyMap<ProblemLocation, SourceProperty>;

/** How the dto of a request is bound: an object like any other, whose properties have sources. Made once. */
export interface Plan extends Pick<ObjectCodec, 'create' | 'complete' | 'check' | 'members'> {
  /** The sources of all properties, by their names. */
  readonly sourcesOf: ReadonlyMap<string, SourcesOfProperty>;
  /** The properties that each source supplies, in binding order. */
  readonly sourceProperties: ReadonlyMap<ProblemLocation, readonly SourceProperty[]>;
  /** The property that takes the whole body, as JSON (`fromBody`) or as text (`plainText`). */
  readonly wholeBody: Member | undefined;
  /** The property whose value is the result, if it is not the object: a list, or what a schema makes. */
  readonly only: string | undefined;
  readonly body: BodyUse;
}

/** Which kinds of body a dto uses. */
export interface BodyUse extends PartsTaken {
  readonly json: boolean;
  readonly form: boolean;
  readonly text: boolean;
  /** True if JSON numbers must keep all their digits, for a `long` or a `decimal`. */
  readonly needsExactNumbers: boolean;
}

/** The sources of a bare type and of `field()`, in binding order. */
export const FIELD_SOURCES = ['json', 'form', 'route', 'query'] as const;

/** What an endpoint says about the sources of declarations that do not name one. */
export interface SourceDefaults {
  readonly fieldSources: readonly Source[];
  readonly fallback: boolean;
  /** What becomes of names that no property takes. */
  readonly unknownNames: 'ignore' | 'refuse';
  /** True if the endpoint accepts forms. */
  readonly allowMultipart: boolean;
}

/** The source that a kind of property names itself. */
const SOURCE_OF: Readonly<Record<string, ProblemLocation>> = {
  ...({ jsonField: 'json', formField: 'form', routeParam: 'route', queryParam: 'query' } as const),
  ...({ fromBody: 'json', plainText: 'body', fromForm: 'form', fromQuery: 'query' } as const),
  ...({ fromClaim: 'claim', fromHeader: 'header', fromCookie: 'cookie', hasPermission: 'permission' } as const),
} satisfies Record<Exclude<PropertyKind, 'field'>, ProblemLocation>;

/** The kinds of properties that take a source as a whole. The text of `plainText` is that of the body. */
const WHOLE: Readonly<Record<string, ProblemLocation>> = {
  ...({ fromBody: 'json', plainText: 'json', fromForm: 'form', fromQuery: 'query' } as const),
};

/** The sources whose values a client may send in those of a `field()`, if the declaration lets it. */
const OUTSIDE: readonly unknown[] = ['claim', 'header', 'cookie'];

/** The message for a value that is missing in a source, if not the usual one. */
const MISSING: Readonly<Partial<Record<ProblemLocation, string>>> = {
  route: 'This route parameter is required.',
  query: 'This query parameter is required.',
  claim: 'The caller does not have this claim.',
  header: 'This header is missing from the request.',
  cookie: 'This cookie is missing from the request.',
  permission: 'The caller does not have this permission.',
};

/**
 * Prepares the binding of a dto.
 * @param Dto a dto class, `list(Dto)`, or a Standard Schema for the JSON body.
 * @param defaults the options `fieldSources`, `fallback`, `unknownNames`, and whether forms are accepted.
 * @throws TypeError that names the class and the property that cannot be bound.
 */
export function planFor(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults): Plan {
  return namingErrors('bindRequest', () => {
    assertType(Dto);
    if (isSchema(Dto) || !isDto(Dto)) return planOfBody(Dto, codecs, defaults);
    const className = classNameOf(Dto);
    // Each whole before the next, so that errors name the way to them.
    const members = [...propertiesOf(Dto).values()].map(spec =>
      namingErrors(`${className}.${spec.property}`, () => memberFor(spec, codecs)),
    );
    return { ...instancesOf(Dto), ...bindingOf(className, members, defaults), only: undefined };
  });
}

/** Binds the whole JSON body to a list dto or a schema, and no other source. */
function planOfBody(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const codec = codecs.complete(Dto);
  if (!['list', 'union', 'schema'].includes(codec.kind) || takesFiles(codec))
    throw new TypeError(
      `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
    );
  return namingErrors(codec.name, () => planOfOne(specOf('fromBody', 'body', Dto, { bindFrom: '' }), codecs, defaults));
}

/** Binds one value, which is the result. @throws TypeError for a type that the source cannot supply. */
export function planOfOne(spec: PropertySpec, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const create = (): object => Object.create(null) as object;
  const binding = bindingOf('', [memberFor(spec, codecs)], defaults);
  return { create, complete: undefined, check: undefined, ...binding, only: spec.property };
}

function memberFor(spec: PropertySpec, codecs: CodecTable): Member {
  const member = memberOf(spec, codecs, codecs.complete(spec.type));
  checkType(member);
  return member;
}

/** @throws TypeError for a property that no source can supply, and for two of one name. */
function bindingOf(className: string, members: readonly Member[], defaults: SourceDefaults) {
  const taken = wholeSources(className, members);
  const sourcesOf = new Map<string, SourcesOfProperty>();
  for (const [index, member] of members.entries()) {
    const sources = sourcesFor(member, defaults, taken);
    const mistake = mistakeIn(member, sources, taken, defaults);
    if (mistake !== undefined)
      throw new TypeError(className === '' ? mistake : `${className}.${member.property}: ${mistake}`);
    sourcesOf.set(member.property, new Map(sources.map(source => [source, propertyIn(source, member, index)])));
  }
  const from = (source: ProblemLocation): SourceProperty[] =>
    [...sourcesOf.values()].flatMap(sources => sources.get(source) ?? []);
  const refusesUnknown = defaults.unknownNames === 'refuse';
  const sourceProperties = new Map(
    LOCATIONS.map(source => [source, from(source)] as const).filter(
      ([source, properties]) => properties.length > 0 || (source === 'query' && refusesUnknown),
    ),
  );
  const [json, form] = [from('json'), from('form')];
  checkJsonNames(className, json);
  const wholeBody = members.find(({ kind }) => WHOLE[kind] === 'json');
  const body: BodyUse = {
    ...{ json: json.length > 0, form: form.length > 0, text: wholeBody?.kind === 'plainText' },
    ...partsFor(form, refusesUnknown),
    needsExactNumbers: json.some(({ codec }) => needsExactNumbers(codec)),
  };
  return { members, sourcesOf, sourceProperties, wholeBody, body };
}

/** Finds the sources that one property takes from all others. @throws TypeError if two properties take the same one. */
function wholeSources(className: string, members: readonly Member[]): ReadonlySet<ProblemLocation> {
  const taken = new Map<ProblemLocation, Member>();
  for (const member of members) {
    const { kind, property } = member;
    const source = WHOLE[kind];
    if (!source) continue;
    const other = taken.get(source);
    const [one, both] = [`${className}.${other?.property ?? ''}`, `${className}.${property}`];
    if (other)
      throw new TypeError(
        `${one} is ${other.kind} and ${both} is ${kind}; only one property can take all of a source.`,
      );
    taken.set(source, member);
  }
  // Flat query parameters still bind to others.
  taken.delete('query');
  return new Set(taken.keys());
}

/** Returns the sources that a declaration names, or leaves to the endpoint, without those that cannot supply it. */
function sourcesFor(member: Member, defaults: SourceDefaults, taken: ReadonlySet<ProblemLocation>): ProblemLocation[] {
  const { kind, codec, dontBind, fallback = defaults.fallback } = member;
  const own = SOURCE_OF[kind];
  if (own && kind in WHOLE) return [own];
  const fields = FIELD_SOURCES.filter(source => own !== undefined || defaults.fieldSources.includes(source));
  const named = !own ? fields : OUTSIDE.includes(own) && fallback ? [...fields, own] : [own];
  return named.filter(
    source => !dontBind.includes(source) && !taken.has(source) && (source === 'form' || !takesFiles(codec)),
  );
}

function propertyIn(source: ProblemLocation, member: Member, index: number): SourceProperty {
  const { kind, jsonName, bindName, ownName } = member;
  const inSource = source === 'json' ? jsonName : /form|route|query/.test(source) ? bindName : ownName;
  const name = kind in WHOLE && source !== 'body' ? '' : inSource;
  const isRoot = kind === 'fromForm' || kind === 'fromQuery';
  const missing = kind === 'fromBody' ? 'A JSON body is required.' : MISSING[source];
  const parts = lowerParts(name);
  return { ...member, source, index, name, anyCase: name.toLowerCase(), parts, isRoot, missing };
}

/** Says why no source can supply a property, unless its own `dontBind` says that no client may set it. */
function mistakeIn(
  { codec, dontBind, required, kind }: Member,
  sources: readonly ProblemLocation[],
  taken: ReadonlySet<ProblemLocation>,
  { allowMultipart }: SourceDefaults,
): string | undefined {
  const isFile = takesFiles(codec);
  if (sources.length > 0) {
    if (!required || allowMultipart || sources.some(source => source !== 'form')) return undefined;
    const orUrlEncoded = hasFile(codec) ? '' : ' or { urlEncoded: true }';
    const allow = `pass { allowFormData: true${orUrlEncoded} }, or declare it with required: false.`;
    return `it is required and binds only from a form, but the endpoint accepts no form; ${allow}`;
  }
  if (taken.has('form') && (kind === 'formField' || isFile)) {
    const whole = 'cannot be combined with fromForm, which takes the whole form; declare it in the type of fromForm.';
    return `${kind === 'formField' ? kind : 'a file'} ${whole}`;
  }
  const reason = `no source can supply it: ${isFile ? 'files come only from a form' : 'all its sources are blocked'}.`;
  if (required) return `it is required, but ${reason}`;
  return dontBind.length === 0 || kind === 'jsonField' ? reason : undefined;
}

/**
 * Decides which files of a form are kept: those whose name begins as a declared one does, even if only to refuse them
 * there; all, if a schema takes the whole form, or if other names are refused. A file of JSON is read as a field if no
 * file is declared under its name: generated clients send objects like this (RFC 7578, section 4.4).
 */
function partsFor(properties: readonly SourceProperty[], refusesUnknown: boolean): PartsTaken {
  const root = properties.find(({ isRoot }) => isRoot)?.codec;
  const fields = root ? membersOf(root) : properties;
  const codecsOf = (name: string): readonly Codec[] =>
    root?.kind === 'record'
      ? [root.item]
      : fields.flatMap(({ bindName, codec }) => (lowerParts(bindName)[0] === lowerParts(name)[0] ? codec : []));
  // Only the names of a schema are unknown.
  const takesAll = root?.kind === 'schema';
  return {
    takesFile: name => takesAll || refusesUnknown || codecsOf(name).length > 0,
    takesJson(name) {
      const codecs = codecsOf(name);
      return codecs.length > 0 ? !codecs.some(hasFile) : takesAll && takesJsonAt(root, name);
    },
  };
}

/**
 * Finds a property in the source in which its value is looked up and its failures are reported; undefined if there is
 * no such property there.
 * @param where Default: the source in which this client would send it; the last one if it could use none.
 */
export function lookupOf(property: string, plan: Plan, req: IncomingMessage, where?: ProblemLocation) {
  const sources: SourcesOfProperty = plan.sourcesOf.get(property) ?? new Map();
  if (where) return sources.get(where);
  const last = [...sources.values()].at(-1);
  // The last source of a claim, header or cookie is its own; the others are its fallback.
  if (OUTSIDE.includes(last?.source)) return last;
  return sources.get(isInPath(sources, req) ? 'route' : preferredSource(plan.body, req)) ?? last;
}

function isInPath(sources: SourcesOfProperty, req: IncomingMessage): boolean {
  const { params = {} } = req as IncomingMessage & { readonly params?: Readonly<Record<string, unknown>> };
  const inPath = sources.get('route')?.anyCase;
  return Object.entries(params).some(([name, value]) => value !== undefined && name.toLowerCase() === inPath);
}

function preferredSource(body: BodyUse, req: IncomingMessage): ProblemLocation {
  if (usuallyHasNoBody(req.method) || body.text) return 'query';
  if (!hasBody(req)) return body.json ? 'json' : 'form';
  const { kind } = mediaTypeOf(req);
  return kind === 'urlencoded' || kind === 'multipart' ? 'form' : 'json';
}

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
