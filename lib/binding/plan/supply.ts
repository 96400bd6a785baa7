import type { Member } from '../declaration/members';
import type { Source } from '../../problems/problem';
import { takesFiles } from '../types/codec';
import { FIELD_SOURCES, type SourceProperty } from './source-properties';

/** @throws TypeError for a property without a source, unless its own `dontBind` says that no client may set it. */
export function checkSupply(
  { codec, spec, dontBind, required }: Member,
  sources: ReadonlyMap<Source, SourceProperty>,
  fieldSources: readonly Source[],
): void {
  const { kind } = spec;
  if (sources.size > 0 || kind === 'fromBody' || kind === 'plainText') return;
  if (kind === 'jsonField')
    throw new TypeError(
      takesFiles(codec)
        ? 'jsonField cannot be a file: files come only from a form.'
        : 'jsonField cannot be combined with fromBody or plainText, which takes the whole body.',
    );
  if (kind === 'field' && FIELD_SOURCES.some(source => !fieldSources.includes(source) && !dontBind.includes(source)))
    throw new TypeError(
      `none of its fieldSources (${fieldSources.join(', ')}) can supply it; declare it with ` +
        'jsonField, formField, routeParam or queryParam, or remove its dontBind.',
    );
  if (!required) return;
  const reason = takesFiles(codec) ? 'files come only from a form' : 'all its sources are blocked';
  throw new TypeError(`it is required, but no source can supply it: ${reason}.`);
}
