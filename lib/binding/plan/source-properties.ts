import { namingErrors } from '../declaration/declarations';
import type { Member } from '../declaration/codec-table';
import type { PropertyKind } from '../declaration/property';
import type { ProblemLocation, Source } from '../../problems/problem';
import { hasFile, takesFiles, type Codec } from '../types/codec';

/** A property of the dto of a request, as one source supplies it. */
export interface SourceProperty extends Member {
  /** Name of the value in the source. */
  readonly name: string;
  /** The name in lower case. */
  readonly anyCase: string;
  /** True if the property takes all names of the source (`fromForm`, `fromQuery`). */
  readonly isRoot: boolean;
}

/** The sources of one property, in binding order. That of `plainText` is the body. */
export type SourcesOfProperty = ReadonlyMap<ProblemLocation, SourceProperty>;

/** The sources of all properties, by their names. */
export type SourcesOf = ReadonlyMap<string, SourcesOfProperty>;

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
 * Finds the sources of all properties, each with the name of the value in it.
 * @throws TypeError for a property that no source can supply, and for two that take the same source as a whole.
 */
export function sourcesOf(className: string, members: readonly Member[], defaults: SourceDefaults): SourcesOf {
  const taken = wholeSources(className, members);
  return new Map(
    members.map(member => {
      const sources = sourcesFor(member, defaults).filter(source => canSupply(source, member, taken));
      const isLost = member.required && !defaults.allowMultipart && sources.every(source => source === 'form');
      namingErrors(`${className}.${member.property}`, () => {
        if (sources.length === 0) checkUnsupplied(member, taken, defaults);
        else if (isLost) throw formNotAccepted(member.codec);
      });
      return [member.property, new Map(sources.map(source => [source, propertyIn(source, member)]))];
    }),
  );
}

const formNotAccepted = (codec: Codec): TypeError =>
  new TypeError(
    'it is required and binds only from a form, but the endpoint accepts no form; pass { allowFormData: true' +
      `${hasFile(codec) ? '' : ' or { urlEncoded: true }'} }, or declare it with required: false.`,
  );

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

function propertyIn(source: ProblemLocation, member: Member): SourceProperty {
  const { property, bindName, jsonName, spec } = member;
  const names = { json: jsonName, form: bindName, route: bindName, query: bindName, body: property };
  const own = source in names ? names[source as keyof typeof names] : (spec.name ?? property);
  const name = WHOLE.has(spec.kind) && source !== 'body' ? '' : own;
  const isRoot = spec.kind === 'fromForm' || spec.kind === 'fromQuery';
  return { ...member, name, anyCase: name.toLowerCase(), isRoot };
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

/** @throws TypeError for a property without a source, unless its own `dontBind` says that no client may set it. */
function checkUnsupplied(
  { codec, dontBind, required, spec: { kind } }: Member,
  taken: ReadonlySet<ProblemLocation>,
  { fieldSources }: SourceDefaults,
): void {
  const isFile = takesFiles(codec);
  if (taken.has('form') && (kind === 'formField' || isFile))
    throw new TypeError(
      `${kind === 'formField' ? kind : 'a file'} cannot be combined with fromForm, which takes the whole form; ` +
        'declare it in the type of fromForm.',
    );
  if (kind === 'jsonField' && !isFile)
    throw new TypeError('jsonField cannot be combined with fromBody or plainText, which takes the whole body.');
  if (kind === 'field' && FIELD_SOURCES.some(source => !fieldSources.includes(source) && !dontBind.includes(source)))
    throw new TypeError(
      `none of its fieldSources (${fieldSources.join(', ')}) can supply it; declare it with ` +
        'jsonField, formField, routeParam or queryParam, or remove its dontBind.',
    );
  const reason = isFile ? 'files come only from a form' : 'all its sources are blocked';
  if (required || kind === 'jsonField')
    throw new TypeError(`${required ? 'it is required, but ' : ''}no source can supply it: ${reason}.`);
}
