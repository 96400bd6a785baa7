import type { Source } from '../../problems/problem';
import type { Member } from '../declaration/members';
import type { PropertyKind } from '../declaration/property';
import { fileIn, hasFile, isReadByName, takesFiles, withParts, type Codec } from '../types/codec';
import { FIELD_SOURCES, type SourceDefaults, type SourceProperty } from './source-properties';
import type { SourcesOf, SourcesOfProperty } from './source-properties';

/** What a property of these kinds takes as a whole. */
const WHOLE: Readonly<Partial<Record<PropertyKind, Source>>> = {
  fromBody: 'json',
  plainText: 'json',
  fromForm: 'form',
  fromQuery: 'query',
};

/** Finds the sources that one property takes from all others. @throws TypeError if two properties take the same one. */
export function wholeSources(className: string, members: readonly Member[]): ReadonlySet<Source> {
  const taken = new Map<Source, Member>();
  for (const member of members) {
    const { kind } = member.spec;
    const source = WHOLE[kind];
    if (!source) continue;
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

/** Checks that a type fits the declaration. @throws TypeError */
export function checkType(kind: PropertyKind, codec: Codec): void {
  if ((kind === 'fromForm' || kind === 'fromQuery') && !isReadByName(codec))
    throw new TypeError(`${kind} takes an object, whose properties are bound by name: a dto class, not ${codec.name}.`);
  if (kind === 'fromBody' && takesFiles(codec))
    throw new TypeError('it cannot be a file: fromBody takes a JSON body, and files come from a form.');
  const reason = notNestableIn(codec);
  if (reason !== undefined) throw new TypeError(reason);
  if (kind !== 'fromForm' && !takesFiles(codec))
    refuseFile(codec, 'and files come only from a form; declare it with fromForm.');
}

/**
 * @throws TypeError for a type that contains a file: what multer says about it has its path on the server, or its
 * bytes.
 */
export function checkIsWritable(codec: Codec): void {
  refuseFile(codec, 'which a response cannot; declare what the response says about it, for example its size.');
}

function refuseFile(codec: Codec, remedy: string): void {
  if (!hasFile(codec)) return;
  const name = fileIn(codec);
  throw new TypeError(`it contains a file${name === undefined ? '' : ` (${name})`}, ${remedy}`);
}

/** Names the first property that binds only at the root of a request, and says so; undefined if there is none. */
export function notNestableIn(codec: Codec): string | undefined {
  for (const part of withParts(codec))
    if (part.kind === 'object' && part.notNestable !== undefined) return part.notNestable;
  return undefined;
}

/**
 * @param taken the sources that another property takes as a whole.
 * @throws TypeError for a property without a source, unless its own `dontBind` says that no client may set it.
 */
export function checkSupply(
  { codec, dontBind, required, spec: { kind } }: Member,
  sources: SourcesOfProperty,
  taken: ReadonlySet<Source>,
  { fieldSources }: SourceDefaults,
): void {
  if (sources.size > 0) return;
  if (kind === 'jsonField' && takesFiles(codec))
    throw new TypeError('jsonField cannot be a file: files come only from a form.');
  if (kind === 'jsonField')
    throw new TypeError('jsonField cannot be combined with fromBody or plainText, which takes the whole body.');
  if (taken.has('form') && (kind === 'formField' || takesFiles(codec)))
    throw new TypeError(
      `${kind === 'formField' ? kind : 'a file'} cannot be combined with fromForm, which takes the whole form; ` +
        'declare it in the type of fromForm.',
    );
  if (kind === 'field' && FIELD_SOURCES.some(source => !fieldSources.includes(source) && !dontBind.includes(source)))
    throw new TypeError(
      `none of its fieldSources (${fieldSources.join(', ')}) can supply it; declare it with ` +
        'jsonField, formField, routeParam or queryParam, or remove its dontBind.',
    );
  const reason = takesFiles(codec) ? 'files come only from a form' : 'all its sources are blocked';
  if (required) throw new TypeError(`it is required, but no source can supply it: ${reason}.`);
}

/** @throws TypeError for a required property that binds only from a form, if the endpoint accepts no form. */
export function refuseWithoutForm(className: string, properties: readonly SourceProperty[], all: SourcesOf): void {
  for (const { property, codec, required } of properties) {
    if (!required || all.get(property)?.size !== 1) continue;
    const option = hasFile(codec) ? 'allowFormData: true' : 'allowFormData: true or { urlEncoded: true }';
    const mistake = 'it is required and binds only from a form, but the endpoint accepts no form';
    throw new TypeError(
      `bindRequest: ${className}.${property}: ${mistake}; pass { ${option} }, or declare it with required: false.`,
    );
  }
}
