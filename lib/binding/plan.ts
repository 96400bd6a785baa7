import type { BodyUse } from './body';
import { instantiate, propertiesOf, type PropertySpec, type Source } from './property';
import type { AnyType, DtoClass, PropertyType } from './types/property-type';
import { typeOf } from './types/type-of';

/** One property as one source sees it. */
export interface Slot {
  /** Name of the property on the dto. */
  readonly property: string;
  /** Name that the source is asked for. */
  readonly name: string;
  readonly type: PropertyType<unknown>;
  readonly required: boolean;
  /** The JSON body itself must have the value. */
  readonly jsonRequired?: boolean;
}

/** A property that must have a value in the end, with the sources that could have given it. */
export interface Requirement {
  readonly property: string;
  readonly slots: ReadonlyMap<Source, Slot>;
}

/** What is worked out about a dto class once, when the middleware is made. */
export interface Plan {
  readonly create: () => Record<string, unknown>;
  /** What each source is asked for. */
  readonly slots: ReadonlyMap<Source, readonly Slot[]>;
  readonly required: readonly Requirement[];
  /** The property that takes the whole JSON body (`fromBody`). */
  readonly wholeBody: Slot | undefined;
  /** The property that takes the whole body as text (`plainText`). */
  readonly content: Slot | undefined;
  readonly body: BodyUse;
  /** What becomes `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: Readonly<Record<string, unknown>>) => unknown;
}

/** @param Dto a dto class, or `list(Dto)`. */
export function planFor(Dto: AnyType): Plan {
  if (typeof Dto === 'function') return planForClass(Dto);
  const type = typeOf(Dto);
  if (type.shape !== 'list') throw new TypeError(`bindRequest: ${type.name} cannot be the dto of a request; use a dto class or list(Dto).`);
  return planForList(type);
}

/** SPEC, "JSON body", rule 3: the body must be a JSON array; no other source binds. */
function planForList(type: PropertyType<unknown>): Plan {
  const items: Slot = { property: 'items', name: '', type, required: true };
  return {
    create: () => ({}),
    slots: new Map(),
    required: [{ property: 'items', slots: new Map() }],
    wholeBody: items,
    content: undefined,
    body: { json: true, form: false, text: false, keepsDigits: type.keepsDigits ?? false },
    result: dto => dto['items'],
  };
}

/** @throws TypeError naming the class and the property that cannot be bound as declared. */
function planForClass(Dto: DtoClass<unknown>): Plan {
  const properties = propertiesOf(Dto);
  if (properties.size === 0) throw new TypeError(`bindRequest: ${Dto.name || 'this class'} has no declared properties; declare them with dto({...}) or decorators.`);
  const wholeBody = onlyOne(Dto, properties, 'fromBody');
  const content = onlyOne(Dto, properties, 'plainText');
  if (wholeBody?.type.shape === 'file') throw new TypeError(`bindRequest: ${Dto.name}.${wholeBody.property} cannot be a file: fromBody takes a JSON body, a file comes from a form.`);
  if (wholeBody && content) throw new TypeError(`bindRequest: ${Dto.name} has both fromBody and plainText; the body can go to one property only.`);

  const slots = new Map<Source, Slot[]>();
  const required: Requirement[] = [];
  for (const [property, spec] of properties) {
    const own = slotsOf(property, spec);
    // The body has its taker: no part of it goes anywhere else.
    if (wholeBody || content) own.delete('json');
    for (const [source, slot] of own) slots.set(source, [...slots.get(source) ?? [], slot]);
    if (!spec.required) continue;
    if (own.size === 0 && property !== wholeBody?.property && property !== content?.property) throw new TypeError(`bindRequest: ${Dto.name}.${property} is required, but no source can bring it: ${spec.type.shape === 'file' ? 'a file comes from a form only' : 'all its sources are blocked'}.`);
    required.push({ property, slots: own });
  }
  const inJson = [...slots.get('json') ?? [], ...wholeBody ? [wholeBody] : []];
  const body: BodyUse = { json: inJson.length > 0, form: slots.has('form'), text: content !== undefined, keepsDigits: inJson.some(({ type }) => type.keepsDigits) };
  return { create: () => instantiate<unknown>(Dto, properties), slots, required, wholeBody, content, body, result: dto => dto };
}

/** The sources of a property and the name that each is asked for. */
function slotsOf(property: string, spec: PropertySpec): Map<Source, Slot> {
  const { jsonPropertyName = property, bindFrom = property, name = property, dontBind = [] } = spec;
  const anyOf = (): [Source, string][] => [['json', jsonPropertyName], ['form', bindFrom], ['route', bindFrom], ['query', bindFrom]];
  const fallback = (): [Source, string][] => (spec.fallback ? anyOf() : []);
  const names = ((): [Source, string][] => {
    switch (spec.kind) {
      case 'field': return anyOf();
      case 'formField': return [['form', bindFrom]];
      case 'queryParam': return [['query', bindFrom]];
      case 'routeParam': return [['route', bindFrom]];
      case 'fromClaim': return [...fallback(), ['claim', name]];
      case 'fromHeader': return [...fallback(), ['header', name]];
      case 'fromCookie': return [...fallback(), ['cookie', name]];
      case 'hasPermission': return [['permission', name]];
      case 'fromBody':
      case 'plainText': return [];
    }
  })();
  return new Map(names
    .filter(([source]) => !dontBind.includes(source) && (spec.type.shape !== 'file' || source === 'form'))
    .map(([source, lookup]) => [source, slotFor(property, spec, lookup)]));
}

function slotFor(property: string, { type, required, jsonRequired }: PropertySpec, name: string): Slot {
  return { property, name, type, required, ...(jsonRequired && { jsonRequired }) };
}

function onlyOne(Dto: DtoClass<unknown>, properties: ReadonlyMap<string, PropertySpec>, kind: PropertySpec['kind']): Slot | undefined {
  const [first, second] = [...properties].filter(([, spec]) => spec.kind === kind);
  if (first && second) throw new TypeError(`bindRequest: ${Dto.name}.${first[0]} and ${Dto.name}.${second[0]} are both ${kind}; one property at the most can take the whole body.`);
  return first && slotFor(first[0], first[1], first[0]);
}
