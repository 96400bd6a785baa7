import type { ProblemLocation } from '../../problems/problem';
import type { PartsTaken } from '../../body/form/form';
import { checkJsonNames, namingErrors } from '../declaration/declaration-error';
import { instancesOf, isDto } from '../declaration/declarations';
import { membersOf, type Member } from '../declaration/members';
import { ownValue } from '../reading/json-text';
import { firstPart } from '../reading/name-tree';
import { assertType, isSchema } from '../types/assert-type';
import {
  hasFile,
  needsExactNumbers,
  notNull,
  objectsOf,
  takesFiles,
  type Codec,
  type ObjectCodec,
} from '../types/codec';
import { classNameOf, isOptional, refusesNull, type AnyType } from '../types/property-type';
import { takesJsonAt } from '../types/schema';
import { checkSupply, checkType, wholeSources } from './checks';
import type { CodecTable } from './codec-table';
import { sourcesOf, type SourceDefaults, type SourceProperty, type SourcesOf } from './source-properties';

/** How the dto of a request is bound: an object like any other, whose properties have sources. Made once. */
export interface Plan extends Pick<ObjectCodec, 'create' | 'complete' | 'check'> {
  readonly members: readonly Member[];
  /** The sources of each property. */
  readonly sourcesOf: SourcesOf;
  /** The properties that each source supplies. */
  readonly sourceProperties: ReadonlyMap<ProblemLocation, readonly SourceProperty[]>;
  readonly wholeBody: WholeBody | undefined;
  readonly body: BodyUse;
  /** Returns the value of `req.dto`: the bound object, or for a list dto its items. */
  readonly result: (dto: object) => unknown;
}

/** The property that takes the whole body, as JSON (`fromBody`) or as text (`plainText`). */
export interface WholeBody {
  readonly kind: 'json' | 'text';
  readonly member: Member;
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
 * @param defaults the options `fieldSources` and `fallback`.
 * @param owner the function that the dto was given to, for messages.
 * @throws TypeError that names the class and the property that cannot be bound.
 */
export function planFor(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults, owner = 'bindRequest'): Plan {
  return namingErrors(owner, () => {
    assertType(Dto);
    if (isSchema(Dto) || !isDto(Dto)) return planForBody(Dto, codecs, defaults);
    const members = membersOf(Dto, codecs, ({ kind, type }) => {
      const codec = codecs.complete(type);
      checkType(kind, codec);
      return codec;
    });
    return { ...instancesOf(Dto), ...bindingOf(classNameOf(Dto), members, defaults), result: dto => dto };
  });
}

/** Prepares a list dto or a schema: the whole JSON body binds to it, and no other source. */
function planForBody(Dto: AnyType, codecs: CodecTable, defaults: SourceDefaults): Plan {
  const codec = codecs.complete(Dto);
  if (!['list', 'union', 'schema'].includes(notNull(codec).kind) || takesFiles(codec))
    throw new TypeError(
      `${codec.name} cannot be the dto of a request; use a dto class, list(Dto) or a Standard Schema.`,
    );
  namingErrors(codec.name, () => {
    checkType('fromBody', codec);
  });
  const required = !isOptional(Dto);
  const body: Member = {
    ...{ property: 'body', index: 0, bindName: '', jsonName: '', codec, required, refusesNull: refusesNull(Dto) },
    ...{ jsonRequired: false, dontBind: [], spec: { kind: 'fromBody', type: Dto, required } },
  };
  const object = { create: () => ({}), complete: undefined, check: undefined };
  return { ...object, ...bindingOf('', [body], defaults), result: dto => ownValue(dto, 'body') };
}

/** @throws TypeError for a property that no source can supply, and for two of one name. */
function bindingOf(
  className: string,
  members: readonly Member[],
  defaults: SourceDefaults,
): Omit<Plan, 'create' | 'complete' | 'check' | 'result'> {
  const taken = wholeSources(className, members);
  const all: SourcesOf = new Map(
    members.map(member => {
      const sources = sourcesOf(member, taken, defaults);
      namingErrors(`${className}.${member.property}`, () => {
        checkSupply(member, sources, taken, defaults);
      });
      return [member.property, sources];
    }),
  );
  const sourceProperties = bySource(all);
  const [json = [], form = []] = [sourceProperties.get('json'), sourceProperties.get('form')];
  checkJsonNames(className, json);
  const refusesUnknown = defaults.unknownNames === 'refuse';
  if (refusesUnknown && !sourceProperties.has('query')) sourceProperties.set('query', []);
  const whole = members.find(({ spec }) => spec.kind === 'fromBody' || spec.kind === 'plainText');
  const wholeBody: WholeBody | undefined = whole && {
    kind: whole.spec.kind === 'fromBody' ? 'json' : 'text',
    member: whole,
  };
  const body: BodyUse = {
    ...{ json: json.length > 0, form: form.length > 0, text: wholeBody?.kind === 'text' },
    ...partsFor(form, refusesUnknown),
    needsExactNumbers: json.some(({ codec }) => needsExactNumbers(codec)),
  };
  return { members, sourcesOf: all, sourceProperties, wholeBody, body };
}

function bySource(all: SourcesOf): Map<ProblemLocation, SourceProperty[]> {
  const found = new Map<ProblemLocation, SourceProperty[]>();
  for (const [source, property] of [...all.values()].flatMap(sources => [...sources]))
    found.set(source, [...(found.get(source) ?? []), property]);
  return found;
}

/**
 * Decides which files of a form are kept: those whose name begins as a declared one does, even if only to refuse them
 * there; all, if a schema takes the whole form, or if other names are refused. A file of JSON is read as a field if no
 * file is declared under its name: generated clients send objects like this (RFC 7578, section 4.4).
 */
function partsFor(properties: readonly SourceProperty[], refusesUnknown: boolean): PartsTaken {
  const whole = properties.find(({ isRoot }) => isRoot)?.codec;
  const root = whole && notNull(whole);
  const fields = (root ? objectsOf(root) : []).flatMap(one => one.fields);
  const declared = [
    ...properties.filter(({ isRoot }) => !isRoot).map(({ name, codec }) => [firstPart(name), codec] as const),
    ...fields.map(({ bindName, codec }) => [firstPart(bindName), codec] as const),
  ];
  const codecsOf = (name: string): readonly Codec[] =>
    root?.kind === 'record'
      ? [root.item]
      : declared.flatMap(([first, codec]) => (first === firstPart(name) ? codec : []));
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
