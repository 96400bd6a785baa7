import type { IncomingMessage } from 'node:http';
import { bodyKindOf, hasBody, mediaTypeOf } from '../../body/content/media-type';
import type { PartsTaken } from '../../body/form/parts';
import type { ProblemLocation } from '../../problems/problem';
import { checkJsonNames, checkType, memberOf, type CodecTable, type Member } from '../declaration/codec-table';
import { isDto, namingErrors } from '../declaration/declarations';
import { ownValue } from '../reading/json-text';
import { firstPart } from '../reading/name-tree';
import { hasFile, needsExactNumbers, notNull, objectsOf, takesFiles } from '../types/codec';
import type { Codec, ObjectCodec } from '../types/codec';
import { assertType, classNameOf, isOptional, isSchema, refusesNull, type AnyType } from '../types/property-type';
import { takesJsonAt } from '../types/schema';
import { sourcesOf } from './source-properties';
import type { SourceDefaults, SourceProperty, SourcesOf, SourcesOfProperty } from './source-properties';

/** How the dto of a request is bound: an object like any other, whose properties have sources. Made once. */
export interface Plan extends Pick<ObjectCodec, 'create' | 'complete' | 'check'> {
  readonly members: readonly Member[];
  /** The sources of each property. */
  readonly sourcesOf: SourcesOf;
  /** The properties that each source supplies. */
  readonly sourceProperties: ReadonlyMap<ProblemLocation, readonly SourceProperty[]>;
  /** The property that takes the whole body, as JSON (`fromBody`) or as text (`plainText`). */
  readonly wholeBody: Member | undefined;
  readonly body: BodyUse;
  /** Returns the value of `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: object) => unknown;
}

/** Which kinds of body a dto uses. */
export interface BodyUse extends PartsTaken {
  readonly json: boolean;
  readonly form: boolean;
  readonly text: boolean;
  /** True if JSON numbers must keep all their digits, for a `long` or a `decimal`. */
  readonly needsExactNumbers: boolean;
}

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
    return { ...object, ...bindingOf(classNameOf(Dto), object.members, defaults), result: dto => dto };
  });
}

/** Binds the whole JSON body to a list dto or a schema, and no other source. */
function planOfBody(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const codec = codecs.complete(Dto);
  if (!['list', 'union', 'schema'].includes(notNull(codec).kind) || takesFiles(codec))
    throw new TypeError(
      `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
    );
  namingErrors(codec.name, () => {
    checkType('fromBody', codec);
  });
  const optional = { required: !isOptional(Dto), refusesNull: refusesNull(Dto) };
  const body = memberOf('body', { kind: 'fromBody', type: Dto, bindFrom: '', ...optional }, codecs, codec);
  const object = { create: () => ({}), complete: undefined, check: undefined };
  return { ...object, ...bindingOf('', [body], defaults), result: dto => ownValue(dto, 'body') };
}

/** @throws TypeError for a property that no source can supply, and for two of one name. */
function bindingOf(className: string, members: readonly Member[], defaults: SourceDefaults) {
  const all = sourcesOf(className, members, defaults);
  const sourceProperties = new Map<ProblemLocation, SourceProperty[]>();
  for (const [source, property] of [...all.values()].flatMap(sources => [...sources]))
    sourceProperties.set(source, [...(sourceProperties.get(source) ?? []), property]);
  const refusesUnknown = defaults.unknownNames === 'refuse';
  if (refusesUnknown && !sourceProperties.has('query')) sourceProperties.set('query', []);
  const [json = [], form = []] = [sourceProperties.get('json'), sourceProperties.get('form')];
  checkJsonNames(className, json);
  const wholeBody = members.find(({ spec: { kind } }) => kind === 'fromBody' || kind === 'plainText');
  const body: BodyUse = {
    ...{ json: json.length > 0, form: form.length > 0, text: wholeBody?.spec.kind === 'plainText' },
    ...partsFor(form, refusesUnknown),
    needsExactNumbers: json.some(({ codec }) => needsExactNumbers(codec)),
  };
  return { members, sourcesOf: all, sourceProperties, wholeBody, body };
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

/** A property, and the source in which its value is looked up and its failures are reported. */
export interface Lookup {
  readonly source: ProblemLocation;
  readonly found: SourceProperty;
}

/**
 * Finds a property in a source; undefined if there is no such property there.
 * @param where Default: the source in which this client would send it.
 */
export function lookupOf(
  property: string,
  plan: Plan,
  req: IncomingMessage,
  where?: ProblemLocation,
): Lookup | undefined {
  const sources = plan.sourcesOf.get(property);
  const source = where ?? (sources && sourceIn(sources, plan, req));
  const found = source && sources?.get(source);
  return found && { source, found };
}

/** Returns the source in which this client would send a property; the last one if it could use none. */
function sourceIn(sources: SourcesOfProperty, plan: Plan, req: IncomingMessage): ProblemLocation | undefined {
  const last = [...sources.keys()].at(-1);
  // The last source of a claim, header or cookie is its own; the others are its fallback.
  if (last === 'claim' || last === 'header' || last === 'cookie') return last;
  const { params = {} } = req as IncomingMessage & { readonly params?: Readonly<Record<string, unknown>> };
  const inPath = sources.get('route')?.anyCase;
  if (Object.entries(params).some(([name, value]) => value !== undefined && name.toLowerCase() === inPath))
    return 'route';
  const preferred = preferredSource(plan.body, req);
  return sources.has(preferred) ? preferred : last;
}

function preferredSource(body: BodyUse, req: IncomingMessage): ProblemLocation {
  if (usuallyHasNoBody(req.method) || body.text) return 'query';
  if (!hasBody(req)) return body.json ? 'json' : 'form';
  const kind = bodyKindOf(mediaTypeOf(req));
  return kind === 'urlencoded' || kind === 'multipart' ? 'form' : 'json';
}

/** Returns true if requests of a method, in any case, usually have no body (RFC 9110, section 9.3.1). */
export const usuallyHasNoBody = (method = ''): boolean => /^(?:get|head)$/i.test(method);
