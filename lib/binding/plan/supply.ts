import { mustBeSent } from '../declaration/dto-schema';
import type { Member } from '../declaration/members';
import type { Source } from '../../problems/problem';
import { canComeFrom, takesFiles } from '../types/codec';
import { FIELD_SOURCES, type SourceProperty } from './source-properties';

type Sources = ReadonlyMap<Source, SourceProperty>;

/** @throws TypeError for a property that has no source, or is required and no source can supply it. */
export function checkSupply(member: Member, sources: Sources, fieldSources: readonly Source[]): void {
  if (sources.size === 0) checkHasSource(member, fieldSources);
  const { codec, spec, required, jsonRequired } = member;
  // `plainText` takes the text of any body.
  if (!required || spec.kind === 'plainText') return;
  const needsJson = spec.kind === 'fromBody' || (jsonRequired && sources.has('json'));
  const possible: readonly Source[] = needsJson ? ['json'] : [...sources.keys()];
  if (possible.length === 0)
    throw unsupplied(takesFiles(codec) ? 'files come only from a form' : 'all its sources are blocked');
  if (possible.some(source => canComeFrom(source, codec)) || !mustBeSent(member)) return;
  throw unsupplied(
    codec.isTextOnly
      ? `a value parser reads ${codec.name} from text, and the JSON body needs a converter (option converters)`
      : [...new Set(possible.flatMap(source => codec.blockedIn?.(source) ?? []))].join(', '),
  );
}

/** @throws TypeError for a property without a source, unless its own `dontBind` says that no client may set it. */
function checkHasSource({ codec, spec, dontBind }: Member, fieldSources: readonly Source[]): void {
  if (spec.kind === 'jsonField')
    throw new TypeError(
      takesFiles(codec)
        ? 'jsonField cannot be a file: files come only from a form.'
        : 'jsonField cannot be combined with fromBody or plainText, which takes the whole body.',
    );
  if (
    spec.kind === 'field' &&
    FIELD_SOURCES.some(source => !fieldSources.includes(source) && !dontBind.includes(source))
  )
    throw new TypeError(
      `none of its fieldSources (${fieldSources.join(', ')}) can supply it; declare it with ` +
        'jsonField, formField, routeParam or queryParam, or remove its dontBind.',
    );
}

const unsupplied = (reason: string): TypeError =>
  new TypeError(`it is required, but no source can supply it: ${reason}.`);

/** What decides which bodies the requests of a dto must have. */
interface Requirements {
  readonly required: readonly Member[];
  readonly jsonRequired: readonly Member[];
  readonly sourcesOf: ReadonlyMap<string, Sources>;
}

/**
 * Checks that one body is enough: a request has JSON or a form.
 * @throws TypeError for a dto with a property that requires JSON, and another one that requires a form.
 */
export function checkOneBody(className: string, requirements: Requirements): void {
  const { required, jsonRequired, sourcesOf } = requirements;
  const comesOnlyFrom = (source: Source, { property, codec }: Member): boolean => {
    const possible = [...(sourcesOf.get(property)?.keys() ?? [])].filter(one => canComeFrom(one, codec));
    return possible.length === 1 && possible[0] === source;
  };
  const inForm = required.filter(one => comesOnlyFrom('form', one));
  const inJson = required.filter(one => one.spec.kind === 'fromBody' || comesOnlyFrom('json', one));
  if (inForm.length === 0 || inJson.length + jsonRequired.length === 0) return;
  // Asked last: it calls the schemas of the application.
  const ofForm = inForm.find(one => mustBeSent(one) && needsFields(one));
  const ofJson = jsonRequired[0] ?? inJson.find(mustBeSent);
  if (!ofForm || !ofJson) return;
  const [form, json] = [`${className}.${ofForm.property}`, `${className}.${ofJson.property}`];
  const kind = ofJson.jsonRequired ? 'jsonRequired' : ofJson.spec.kind;
  const remedy = ofJson.jsonRequired ? `Remove jsonRequired from ${json}` : `Declare ${json} as optional(…)`;
  throw new TypeError(
    `${json} (${kind}) requires a JSON body, and ${form} (${ofForm.spec.kind}) a form, but a request has one body. ` +
      `${remedy}, or declare ${form} as optional(…), or read both from one kind of body.`,
  );
}

/** Returns false for an object that takes the whole form and needs none of its fields. */
const needsFields = ({ codec, spec }: Member): boolean => spec.kind !== 'fromForm' || codec.needsNames?.() === true;
