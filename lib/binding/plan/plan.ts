import type { ReadFields } from '../reading/class-code';
import type { FoundValues } from '../reading/found-values';
import { ownValue } from '../reading/own-value';
import { jsonReaderOf, memberOf, type Member } from '../declaration/members';
import type { Location } from '../reading/location';
import { namingErrors, checkUniqueNames } from '../declaration/declaration-error';
import { instancesOf, unsetRemover } from '../declaration/instances';
import { propertiesOf } from '../declaration/class-properties';
import { isDto } from '../declaration/declarations';
import type { PropertyKind, PropertySpec, Source } from '../declaration/property';
import { needsExactNumbers, takesFiles, type Codec } from '../types/codec';
import { readJson } from '../types/read-value';
import { assertType, isSchema } from '../types/assert-type';
import { isOptional, type AnyType, type DtoClass } from '../types/property-type';
import type { BodyUse } from './body-use';
import { checkHasNoFile, checkPlacement, checkNestable } from './placement';
import { noParts, partsFor } from './parts';
import { sourcePropertiesOf, type SourceProperty } from './source-properties';
import { checkOneBody, checkSupply } from './supply';
import { wholeSourcesOf } from './whole-source';
import type { CodecTable } from './codec-table';

/** How a dto is bound, prepared once, when the middleware is made. */
export interface Plan {
  readonly create: () => object;
  /** Number of properties. */
  readonly count: number;
  /** Sets the properties for which a value was found, and removes the others that the class has made. */
  readonly set: (dto: object, values: readonly unknown[]) => void;
  /** The properties that each source supplies. */
  readonly sourceProperties: ReadonlyMap<Source, readonly SourceProperty[]>;
  /** Reads the fields of a JSON body. */
  readonly readFields: ReadFields<FoundValues>;
  /** The properties that the JSON body itself must contain. */
  readonly jsonRequired: readonly SourceProperty[];
  /** The sources of each property. */
  readonly sourcesOf: ReadonlyMap<string, ReadonlyMap<Source, SourceProperty>>;
  readonly required: readonly Member[];
  /** The property that takes the whole JSON body (`fromBody`). */
  readonly wholeBody: Member | undefined;
  /** The property that takes the whole body as text (`plainText`). */
  readonly content: Member | undefined;
  readonly body: BodyUse;
  /** Returns the value of `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: object) => unknown;
}

/**
 * Prepares the binding of a dto.
 * @param Dto a dto class, `list(Dto)`, or a Standard Schema for the JSON body.
 * @param owner the function that the dto was given to, for messages.
 * @throws TypeError that names the class and the property that cannot be bound.
 */
export function planFor(Dto: AnyType, codecs: CodecTable, owner = 'bindRequest'): Plan {
  return namingErrors(owner, () => {
    assertType(Dto);
    if (!isSchema(Dto) && isDto(Dto)) return planForClass(Dto, codecs);
    const codec = codecs.complete(Dto);
    if ((codec.shape !== 'list' && codec.shape !== 'schema') || takesFiles(codec))
      throw new TypeError(
        `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
      );
    return planForBody(codec, Dto);
  });
}

/** Prepares a list dto or a schema: the whole JSON body binds to it, and no other source. */
function planForBody(codec: Codec<unknown>, Dto: AnyType): Plan {
  const names = { property: 'body', bindName: '', jsonName: '' };
  const required = !isOptional(Dto);
  const spec: PropertySpec = { kind: 'fromBody', type: Dto, required, fallback: false };
  const body: Member = { ...names, index: 0, codec, required, jsonRequired: false, dontBind: [], spec };
  checkNestable(codec);
  namingErrors(codec.name, () => {
    checkHasNoFile(codec);
  });
  return {
    create: () => ({}),
    count: 1,
    set: (dto, [value]) => Object.assign(dto, { body: value }),
    sourceProperties: new Map(),
    readFields: () => undefined,
    jsonRequired: [],
    sourcesOf: new Map(),
    required: required ? [body] : [],
    wholeBody: body,
    content: undefined,
    body: { json: true, form: false, text: false, ...noParts, needsExactNumbers: needsExactNumbers(codec) },
    result: dto => ownValue(dto, 'body'),
  };
}

function planForClass(Dto: DtoClass<unknown>, codecs: CodecTable): Plan {
  const code = codecs.codeFor(Dto);
  const specs = propertiesOf(Dto);
  const properties = [...specs.keys()];
  const wholeSources = wholeSourcesOf(Dto, specs);
  const sourceProperties = new Map<Source, SourceProperty[]>();
  const sourcesOf = new Map<string, ReadonlyMap<Source, SourceProperty>>();
  const required: Member[] = [];
  const whole = new Map<PropertyKind, Member>();
  for (const [property, spec] of specs) {
    namingErrors(`${Dto.name}.${property}`, () => {
      const codec = codecs.complete(spec.type);
      checkPlacement(spec, codec, wholeSources);
      const member = memberOf(property, properties.indexOf(property), spec, codec, codecs);
      const own = sourcePropertiesOf(member, spec, wholeSources);
      for (const [source, one] of own) {
        const others = sourceProperties.get(source);
        if (others) others.push(one);
        else sourceProperties.set(source, [one]);
      }
      checkSupply(member, own);
      if (takesWholeBody(spec.kind)) whole.set(spec.kind, member);
      sourcesOf.set(property, own);
      if (spec.required) required.push(member);
    });
  }
  const jsonProperties = sourceProperties.get('json') ?? [];
  checkUniqueNames(
    Dto.name,
    'JSON name',
    jsonProperties.map(({ property, name }) => [property, name]),
  );
  const wholeBody = whole.get('fromBody');
  const content = whole.get('plainText');
  const jsonRequired = jsonProperties.filter(one => one.jsonRequired);
  checkOneBody(Dto.name, { required, jsonRequired, sourcesOf, wholeBody });
  const inJson = [...jsonProperties, ...(wholeBody ? [wholeBody] : [])];
  const body: BodyUse = {
    json: inJson.length > 0,
    form: sourceProperties.has('form'),
    text: content !== undefined,
    ...partsFor(sourceProperties.get('form') ?? []),
    needsExactNumbers: inJson.some(({ codec }) => needsExactNumbers(codec)),
  };
  return {
    create: instancesOf<unknown>(Dto, specs, code),
    count: properties.length,
    set: setting(code.setter(properties), unsetRemover(specs, code)),
    sourceProperties,
    readFields: jsonReaderOf(code, jsonProperties, ({ index }) => index, readIfSent),
    jsonRequired,
    sourcesOf,
    required,
    wholeBody,
    content,
    body,
    result: dto => dto,
  };
}

/** Reads a value of the JSON body. An absent one is skipped: another source may supply it. */
const readIfSent = (member: Member, value: unknown, location: Location): unknown =>
  value === undefined ? undefined : readJson(member, value, location);

function setting(set: Plan['set'], removeUnset: ((dto: object) => void) | undefined): Plan['set'] {
  if (!removeUnset) return set;
  return (dto, values) => {
    set(dto, values);
    removeUnset(dto);
  };
}

const takesWholeBody = (kind: PropertyKind): boolean => kind === 'fromBody' || kind === 'plainText';
