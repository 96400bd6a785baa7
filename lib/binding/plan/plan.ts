import type { IncomingMessage } from 'node:http';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../body/content/media-type';
import type { PartsTaken } from '../../body/form/parts';
import type { ProblemLocation, Source } from '../../problems/problem';
import { checkJsonNames, checkType, memberOf, type CodecTable, type Member } from '../declaration/codec-table';
import { isDto, namingErrors } from '../declaration/declarations';
import type { PropertyKind, PropertySpec } from '../declaration/property';
import { firstPart } from '../reading/name-tree';
import { hasFile, needsExactNumbers, notNull, objectsOf, takesFiles } from '../types/codec';
import type { Codec, ObjectCodec } from '../types/codec';
import { assertType, classNameOf, isOptional, isSchema, refusesNull, type AnyType } from '../types/property-type';
import { takesJsonAt } from '../types/schema';

/** A property of the dto of a request, as one source supplies it. */
export interface SourceProperty extends Member {
  /** Its place among the members of the plan. */
  readonly index: number;
  /** Name of the value in the source. */
  readonly name: string;
  /** The name in lower case. */
  readonly anyCase: string;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
}

/** The sources of one property, in binding order. That of `plainText` is the body. */
export type SourcesOfProperty = ReadonlyMap<ProblemLocation, SourceProperty>;

/** How the dto of a request is bound: an object like any other, whose properties have sources. Made once. */
export interface Plan extends Pick<ObjectCodec, 'create' | 'complete' | 'check'> {
  readonly members: readonly Member[];
  /** The sources of all properties, by their names. */
  readonly sourcesOf: ReadonlyMap<string, SourcesOfProperty>;
  /** The properties that each source supplies. */
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
const SOURCE_OF: Readonly<Record<Exclude<PropertyKind, 'field'>, ProblemLocation>> = {
  ...({ jsonField: 'json', formField: 'form', routeParam: 'route', queryParam: 'query' } as const),
  ...({ fromBody: 'json', plainText: 'body', fromForm: 'form', fromQuery: 'query' } as const),
  ...({ fromClaim: 'claim', fromHeader: 'header', fromCookie: 'cookie', hasPermission: 'permission' } as const),
};

/** The kinds of properties that take a source as a whole. */
const WHOLE: ReadonlySet<PropertyKind> = new Set(['fromBody', 'plainText', 'fromForm', 'fromQuery']);

/**
 * Prepares the binding of a dto.
 * @param Dto a dto class, `list(Dto)`, or a Standard Schema for the JSON body.
 * @param defaults the options `fieldSources`, `fallback`, `unknownNames`, and whether forms are accepted.
 * @param owner the function that the dto was given to, for messages.
 * @throws TypeError that names the class and the property that cannot be bound.
 */
export function planFor(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults, owner = 'bindRequest'): Plan {
  return namingErrors(owner, () => {
    assertType(Dto);
    if (isSchema(Dto) || !isDto(Dto)) return planOfBody(Dto, codecs, defaults);
    const object = codecs.root(Dto);
    for (const { property, codec, spec } of object.members)
      namingErrors(`${classNameOf(Dto)}.${property}`, () => {
        checkType(spec.kind, codec);
      });
    return { ...object, ...bindingOf(classNameOf(Dto), object.members, defaults), only: undefined };
  });
}

/** Binds the whole JSON body to a list dto or a schema, and no other source. */
function planOfBody(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const codec = codecs.complete(Dto);
  if (!['list', 'union', 'schema'].includes(notNull(codec).kind) || takesFiles(codec))
    throw new TypeError(
      `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
    );
  const optional = { required: !isOptional(Dto), refusesNull: refusesNull(Dto) };
  const spec: PropertySpec = { kind: 'fromBody', type: Dto, bindFrom: '', ...optional };
  return namingErrors(codec.name, () => planOfOne(memberOf('body', spec, codecs, codec), defaults));
}

/** Binds one value, which is the result. @throws TypeError for a type that the source cannot supply. */
export function planOfOne(member: Member, defaults: SourceDefaults): Plan {
  checkType(member.spec.kind, member.codec);
  const create = (): object => Object.create(null) as object;
  const binding = bindingOf('', [member], defaults);
  return { create, complete: undefined, check: undefined, ...binding, only: member.property };
}

/** @throws TypeError for a property that no source can supply, and for two of one name. */
function bindingOf(className: string, members: readonly Member[], defaults: SourceDefaults) {
  const taken = wholeSources(className, members);
  const sourceProperties = new Map<ProblemLocation, SourceProperty[]>();
  const refusesUnknown = defaults.unknownNames === 'refuse';
  if (refusesUnknown) sourceProperties.set('query', []);
  const sourcesOf = new Map<string, SourcesOfProperty>();
  for (const [index, member] of members.entries()) {
    const sources = sourcesFor(member, defaults).filter(source => canSupply(source, member, taken));
    const mistake = mistakeIn(member, sources, taken, defaults);
    if (mistake !== undefined)
      throw new TypeError(className === '' ? mistake : `${className}.${member.property}: ${mistake}`);
    const properties = sources.map((source): [ProblemLocation, SourceProperty] => [
      source,
      { ...propertyIn(source, member), index },
    ]);
    sourcesOf.set(member.property, new Map(properties));
    for (const [source, property] of properties)
      sourceProperties.set(source, [...(sourceProperties.get(source) ?? []), property]);
  }
  const [json = [], form = []] = [sourceProperties.get('json'), sourceProperties.get('form')];
  checkJsonNames(className, json);
  const wholeBody = members.find(({ spec: { kind } }) => kind === 'fromBody' || kind === 'plainText');
  const body: BodyUse = {
    ...{ json: json.length > 0, form: form.length > 0, text: wholeBody?.spec.kind === 'plainText' },
    ...partsFor(form, refusesUnknown),
    needsExactNumbers: json.some(({ codec }) => needsExactNumbers(codec)),
  };
  return { members, sourcesOf, sourceProperties, wholeBody, body };
}

/** Finds the sources that one property takes from all others. @throws TypeError if two properties take the same one. */
function wholeSources(className: string, members: readonly Member[]): ReadonlySet<ProblemLocation> {
  const taken = new Map<ProblemLocation, Member>();
  for (const member of members) {
    const { kind } = member.spec;
    if (kind === 'field' || !WHOLE.has(kind)) continue;
    // The text is that of the body.
    const source = kind === 'plainText' ? 'json' : SOURCE_OF[kind];
    const other = taken.get(source);
    const [one, both] = [`${className}.${other?.property ?? ''}`, `${className}.${member.property}`];
    if (other?.spec.kind === kind)
      throw new TypeError(`${one} and ${both} are both ${kind}; only one property can be.`);
    if (other)
      throw new TypeError(`${one} is ${other.spec.kind} and ${both} is ${kind}; the body can go to one property only.`);
    taken.set(source, member);
  }
  // Flat query parameters still bind to others.
  taken.delete('query');
  return new Set(taken.keys());
}

/** Returns the sources that a declaration names, or leaves to the endpoint. */
function sourcesFor({ spec }: Member, defaults: SourceDefaults): readonly ProblemLocation[] {
  const { kind, fallback = defaults.fallback } = spec;
  if (kind === 'field') return FIELD_SOURCES.filter(source => defaults.fieldSources.includes(source));
  const source = SOURCE_OF[kind];
  const mayFallBack = source === 'claim' || source === 'header' || source === 'cookie';
  return [...(mayFallBack && fallback ? FIELD_SOURCES : []), source];
}

function canSupply(source: ProblemLocation, member: Member, taken: ReadonlySet<ProblemLocation>): boolean {
  if (WHOLE.has(member.spec.kind)) return true;
  const isBlocked = (member.dontBind as readonly ProblemLocation[]).includes(source) || taken.has(source);
  return !isBlocked && (source === 'form' || !takesFiles(member.codec));
}

function propertyIn(source: ProblemLocation, member: Member): Omit<SourceProperty, 'index'> {
  const { property, bindName, jsonName, spec } = member;
  const names = { json: jsonName, form: bindName, route: bindName, query: bindName, body: property };
  const own = source in names ? names[source as keyof typeof names] : (spec.name ?? property);
  const name = WHOLE.has(spec.kind) && source !== 'body' ? '' : own;
  const isRoot = spec.kind === 'fromForm' || spec.kind === 'fromQuery';
  return { ...member, name, anyCase: name.toLowerCase(), isRoot };
}

/** Says why no source can supply a property, unless its own `dontBind` says that no client may set it. */
function mistakeIn(
  { codec, dontBind, required, spec: { kind } }: Member,
  sources: readonly ProblemLocation[],
  taken: ReadonlySet<ProblemLocation>,
  { fieldSources, allowMultipart }: SourceDefaults,
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
  if (kind === 'jsonField' && !isFile)
    return 'jsonField cannot be combined with fromBody or plainText, which takes the whole body.';
  if (kind === 'field' && FIELD_SOURCES.some(source => !fieldSources.includes(source) && !dontBind.includes(source))) {
    const other = 'declare it with jsonField, formField, routeParam or queryParam, or remove its dontBind.';
    return `none of its fieldSources (${fieldSources.join(', ')}) can supply it; ${other}`;
  }
  const reason = `no source can supply it: ${isFile ? 'files come only from a form' : 'all its sources are blocked'}.`;
  if (required) return `it is required, but ${reason}`;
  return kind === 'jsonField' ? reason : undefined;
}

/**
 * Decides which files of a form are kept: those whose name begins as a declared one does, even if only to refuse them
 * there; all, if a schema takes the whole form, or if other names are refused. A file of JSON is read as a field if no
 * file is declared under its name: generated clients send objects like this (RFC 7578, section 4.4).
 */
function partsFor(properties: readonly SourceProperty[], refusesUnknown: boolean): PartsTaken {
  const whole = properties.find(({ isRoot }) => isRoot)?.codec;
  const root = whole && notNull(whole);
  const fields = root ? objectsOf(root).flatMap(one => one.fields) : properties;
  const codecsOf = (name: string): readonly Codec[] =>
    root?.kind === 'record'
      ? [root.item]
      : fields.flatMap(({ bindName, codec }) => (firstPart(bindName) === firstPart(name) ? codec : []));
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
export function lookupOf(property: string, { sourcesOf, body }: Plan, req: IncomingMessage, where?: ProblemLocation) {
  const sources = sourcesOf.get(property);
  const last = [...(sources?.keys() ?? [])].at(-1);
  if (!sources || !last) return undefined;
  // The last source of a claim, header or cookie is its own; the others are its fallback.
  const isOutside = last === 'claim' || last === 'header' || last === 'cookie';
  const usual = isOutside ? last : isInPath(sources, req) ? 'route' : preferredSource(body, req);
  const source = where ?? (sources.has(usual) ? usual : last);
  const found = sources.get(source);
  return found && { source, found };
}

function isInPath(sources: SourcesOfProperty, req: IncomingMessage): boolean {
  const { params = {} } = req as IncomingMessage & { readonly params?: Readonly<Record<string, unknown>> };
  const inPath = sources.get('route')?.anyCase;
  return Object.entries(params).some(([name, value]) => value !== undefined && name.toLowerCase() === inPath);
}

function preferredSource(body: BodyUse, req: IncomingMessage): ProblemLocation {
  if (usuallyHasNoBody(req.method) || body.text) return 'query';
  if (!hasBody(req)) return body.json ? 'json' : 'form';
  const kind = bodyKindOf(mediaTypeOf(req));
  return kind === 'urlencoded' || kind === 'multipart' ? 'form' : 'json';
}

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
