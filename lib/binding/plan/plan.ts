import type { BodyUse } from '../input/body';
import { setterOf, type ReadFields } from '../reading/compiled';
import type { Found } from '../reading/found';
import { ownValue } from '../reading/own-value';
import { jsonFieldsOf } from './json-fields';
import { refuseFiles, refuseMisplaced, refuseRootOnly } from './misplaced';
import { noParts, partsFor } from './parts';
import { mistakesAt, refuseSameName } from '../declaration/mistake';
import {
  instancesOf,
  isDto,
  propertiesOf,
  unsetRemover,
  type PropertyKind,
  type Source,
} from '../declaration/property';
import { slotsOf, type Slot } from './slots';
import { takersOf } from './takers';
import { keepsDigits, type Codec } from '../types/codec';
import type { CodecTable } from '../types/codec-table';
import { assertType, isSchema } from '../types/own-codec';
import type { AnyType, DtoClass } from '../types/property-type';

/** What is worked out about a dto class once, when the middleware is made. */
export interface Plan {
  readonly create: () => object;
  /** How many properties there are. */
  readonly count: number;
  /** Sets the properties of which a value was found, and removes the others that the class has made. */
  readonly set: (dto: object, values: readonly unknown[]) => void;
  /** What each source is asked for. */
  readonly slots: ReadonlyMap<Source, readonly Slot[]>;
  /** Reads the fields of a JSON body. */
  readonly readFields: ReadFields<Found>;
  /** What must stand in the JSON body itself. */
  readonly jsonRequired: readonly Slot[];
  /** The sources of each property. */
  readonly sourcesOf: ReadonlyMap<string, ReadonlyMap<Source, Slot>>;
  readonly required: readonly Slot[];
  /** The property that takes the whole JSON body (`fromBody`). */
  readonly wholeBody: Slot | undefined;
  /** The property that takes the whole body as text (`plainText`). */
  readonly content: Slot | undefined;
  readonly body: BodyUse;
  /** What becomes `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: object) => unknown;
}

/**
 * @param Dto a dto class, `list(Dto)`, or a Standard Schema for the JSON body.
 * @throws TypeError naming the class and the property that cannot be bound as declared.
 */
export function planFor(Dto: AnyType, codecs: CodecTable): Plan {
  return mistakesAt('bindRequest', () => {
    assertType(Dto);
    if (!isSchema(Dto) && isDto(Dto)) return planForClass(Dto, codecs);
    const codec = codecs.complete(Dto);
    if (codec.shape !== 'list' && codec.shape !== 'schema')
      throw new TypeError(
        `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
      );
    return planForBody(codec);
  });
}

/** SPEC, "JSON body", rule 3: the body must be a JSON array; no other source binds. The same goes for a schema. */
function planForBody(codec: Codec<unknown>): Plan {
  const body: Slot = { property: 'body', index: 0, name: '', codec, required: true };
  refuseRootOnly(codec);
  mistakesAt(codec.name, () => {
    refuseFiles(codec);
  });
  return {
    create: () => ({}),
    count: 1,
    set: setterOf(['body']),
    slots: new Map(),
    readFields: () => undefined,
    jsonRequired: [],
    sourcesOf: new Map(),
    required: [body],
    wholeBody: body,
    content: undefined,
    body: { json: true, form: false, text: false, ...noParts, keepsDigits: keepsDigits(codec) },
    result: dto => ownValue(dto, 'body'),
  };
}

function planForClass(Dto: DtoClass<unknown>, codecs: CodecTable): Plan {
  const specs = propertiesOf(Dto);
  const properties = [...specs.keys()];
  const takers = takersOf(Dto, specs);
  const slots = new Map<Source, Slot[]>();
  const sourcesOf = new Map<string, ReadonlyMap<Source, Slot>>();
  const required: Slot[] = [];
  const whole = new Map<PropertyKind, Slot>();
  for (const [property, spec] of specs) {
    mistakesAt(`${Dto.name}.${property}`, () => {
      const codec = codecs.complete(spec.type);
      refuseMisplaced(spec, codec, takers);
      const slot: Slot = {
        property,
        index: properties.indexOf(property),
        name: property,
        codec,
        required: spec.required,
      };
      const own = slotsOf(slot, spec, () => codecs.jsonName(property), takers);
      for (const [source, one] of own) slots.set(source, [...(slots.get(source) ?? []), one]);
      if (takesWholeBody(spec.kind)) whole.set(spec.kind, slot);
      else if (spec.required && own.size === 0)
        throw new TypeError(
          `it is required, but no source can bring it: ${codec.shape === 'file' ? 'a file comes from a form only' : 'all its sources are blocked'}.`,
        );
      sourcesOf.set(property, own);
      if (spec.required) required.push(slot);
    });
  }
  const jsonSlots = slots.get('json') ?? [];
  refuseSameName(
    Dto.name,
    'JSON name',
    jsonSlots.map(({ property, name }) => [property, name]),
  );
  const wholeBody = whole.get('fromBody');
  const content = whole.get('plainText');
  const inJson = [...jsonSlots, ...(wholeBody ? [wholeBody] : [])];
  const body: BodyUse = {
    json: inJson.length > 0,
    form: slots.has('form'),
    text: content !== undefined,
    ...partsFor(slots.get('form') ?? []),
    keepsDigits: inJson.some(({ codec }) => keepsDigits(codec)),
  };
  return {
    create: instancesOf<unknown>(Dto, specs),
    count: properties.length,
    set: setting(properties, unsetRemover(specs)),
    slots,
    readFields: jsonFieldsOf(jsonSlots),
    jsonRequired: jsonSlots.filter(slot => slot.jsonRequired),
    sourcesOf,
    required,
    wholeBody,
    content,
    body,
    result: dto => dto,
  };
}

function setting(properties: readonly string[], removeUnset: ((dto: object) => void) | undefined): Plan['set'] {
  const set = setterOf(properties);
  if (!removeUnset) return set;
  return (dto, values) => {
    set(dto, values);
    removeUnset(dto);
  };
}

const takesWholeBody = (kind: PropertyKind): boolean => kind === 'fromBody' || kind === 'plainText';
