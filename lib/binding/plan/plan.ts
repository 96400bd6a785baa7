import type { Source } from '../../problems/problem';
import type { FoundValues } from '../reading/found-values';
import type { JsonObject } from '../reading/json-text';
import { ownValue } from '../reading/json-text';
import { membersOf, type Member } from '../declaration/members';
import type { Location } from '../reading/location';
import { checkJsonNames, namingErrors } from '../declaration/declaration-error';
import { completion, instancesOf, isDto, propertiesOf } from '../declaration/declarations';
import type { PropertySpec } from '../declaration/property';
import { classCheckOf } from '../types/class-check';
import { classNameOf } from '../types/class-name';
import { needsExactNumbers, notNull, takesFiles, type ClassCheck, type Codec } from '../types/codec';
import { readFields, readOptionalJson } from '../types/read-json';
import { assertType, isSchema } from '../types/assert-type';
import { isOptional, refusesNull, type AnyType, type DtoClass } from '../types/property-type';
import type { BodyUse } from './parts';
import { checkHasNoFile, checkPlacement, checkNestable } from './placement';
import { noParts, partsFor } from './parts';
import { sourcePropertiesOf, type SourceDefaults, type SourceProperty } from './source-properties';
import { checkSupply } from './supply';
import { wholeBodyOf, wholeSourcesOf, type WholeBody, type WholeSources } from './whole-source';
import type { CodecTable } from './codec-table';

/** How a dto is bound, prepared once, when the middleware is made. */
export interface Plan {
  readonly create: () => object;
  /** Number of properties. */
  readonly count: number;
  /** Sets the properties for which a value was found, and completes the dto. */
  readonly set: (dto: object, values: readonly unknown[]) => void;
  /** The properties that each source supplies. */
  readonly sourceProperties: ReadonlyMap<Source, readonly SourceProperty[]>;
  /** Reads the fields of a JSON body. */
  readonly read: (found: FoundValues, json: JsonObject, at: Location) => void;
  /** The properties that the JSON body itself must contain. */
  readonly jsonRequired: readonly SourceProperty[];
  /** The sources of each property. */
  readonly sourcesOf: ReadonlyMap<string, ReadonlyMap<Source, SourceProperty>>;
  readonly required: readonly Member[];
  readonly wholeBody: WholeBody | undefined;
  /** The `static check` of the class. */
  readonly check: ClassCheck | undefined;
  readonly body: BodyUse;
  /** Returns the value of `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: object) => unknown;
}

/**
 * Prepares the binding of a dto.
 * @param Dto a dto class, `list(Dto)`, or a Standard Schema for the JSON body.
 * @param defaults the options `fieldSources` and `fallback`.
 * @param owner the function that the dto was given to, for messages.
 * @throws TypeError that names the class and the property that cannot be bound.
 */
export function planFor(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults, owner = 'bindRequest'): Plan {
  return namingErrors(owner, () => {
    assertType(Dto);
    if (!isSchema(Dto) && isDto(Dto)) return planForClass(Dto, codecs, defaults);
    const codec = codecs.complete(Dto);
    if (!['list', 'union', 'schema'].includes(notNull(codec).kind) || takesFiles(codec))
      throw new TypeError(
        `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
      );
    return planForBody(codec, Dto);
  });
}

/** Prepares a list dto or a schema: the whole JSON body binds to it, and no other source. */
function planForBody(codec: Codec, Dto: AnyType): Plan {
  const names = { property: 'body', bindName: '', jsonName: '' };
  const required = !isOptional(Dto);
  const spec: PropertySpec = { kind: 'fromBody', type: Dto, required };
  const body: Member = {
    ...names,
    index: 0,
    codec,
    required,
    jsonRequired: false,
    dontBind: [],
    spec,
    refusesNull: refusesNull(Dto),
  };
  checkNestable(codec);
  namingErrors(codec.name, () => {
    checkHasNoFile(codec);
  });
  return {
    create: () => ({}),
    count: 1,
    set: (dto, [value]) => Object.assign(dto, { body: value }),
    sourceProperties: new Map(),
    read: () => undefined,
    jsonRequired: [],
    sourcesOf: new Map(),
    required: required ? [body] : [],
    wholeBody: { kind: 'json', member: body },
    check: undefined,
    body: { json: true, form: false, text: false, ...noParts, needsExactNumbers: needsExactNumbers(codec) },
    result: dto => ownValue(dto, 'body'),
  };
}

function planForClass(Dto: DtoClass<unknown>, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const wholeSources = wholeSourcesOf(Dto, propertiesOf(Dto));
  const members = membersOf(Dto, codecs, spec => {
    const codec = codecs.complete(spec.type);
    checkPlacement(spec, codec, wholeSources);
    return codec;
  });
  const sourcesOf = sourcesOfEach(classNameOf(Dto), members, wholeSources, defaults);
  const sourceProperties = bySource(sourcesOf);
  const jsonProperties = sourceProperties.get('json') ?? [];
  checkJsonNames(classNameOf(Dto), jsonProperties);
  const required = members.filter(member => member.required);
  const jsonRequired = jsonProperties.filter(member => member.jsonRequired);
  const wholeBody = wholeBodyOf(members);
  const inJson = wholeBody?.kind === 'json' ? [wholeBody.member] : jsonProperties;
  return {
    create: instancesOf<unknown>(Dto),
    count: members.length,
    set: setting(members, completion(Dto)),
    sourceProperties,
    read: (found, json, at) => {
      readFields(jsonProperties, ({ index }) => index, readIfSent, found, json, at);
    },
    jsonRequired,
    sourcesOf,
    required,
    wholeBody,
    check: classCheckOf(Dto),
    body: {
      json: inJson.length > 0,
      form: sourceProperties.has('form'),
      text: wholeBody?.kind === 'text',
      ...partsFor(sourceProperties.get('form') ?? [], defaults.unknownNames === 'refuse'),
      needsExactNumbers: inJson.some(({ codec }) => needsExactNumbers(codec)),
    },
    result: dto => dto,
  };
}

/** Finds the sources of each property. @throws TypeError for a property that no source can supply. */
function sourcesOfEach(
  className: string,
  members: readonly Member[],
  wholeSources: WholeSources,
  defaults: SourceDefaults,
): Plan['sourcesOf'] {
  const sourcesOf = (member: Member): ReadonlyMap<Source, SourceProperty> => {
    const sources = sourcePropertiesOf(member, wholeSources, defaults);
    checkSupply(member, sources, defaults.fieldSources);
    return sources;
  };
  return new Map(
    members.map(member => [member.property, namingErrors(`${className}.${member.property}`, () => sourcesOf(member))]),
  );
}

function bySource(sourcesOf: Plan['sourcesOf']): Map<Source, SourceProperty[]> {
  const all = new Map<Source, SourceProperty[]>();
  for (const [source, one] of [...sourcesOf.values()].flatMap(sources => [...sources])) {
    const others = all.get(source);
    if (others) others.push(one);
    else all.set(source, [one]);
  }
  return all;
}

/** Reads a value of the JSON body. An absent one is skipped: another source may supply it. */
const readIfSent = (member: Member, value: unknown, location: Location): unknown =>
  value === undefined ? undefined : readOptionalJson(member, value, location);

function setting(members: readonly Member[], complete: ((dto: object) => void) | undefined): Plan['set'] {
  return (dto, values) => {
    for (const { property, index } of members)
      if (values[index] !== undefined) (dto as Record<string, unknown>)[property] = values[index];
    complete?.(dto);
  };
}
