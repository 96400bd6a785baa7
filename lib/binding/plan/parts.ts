import type { PartsTaken } from '../../body/form/form';
import { finderOf } from '../reading/name-parts';
import { hasFile, notNull, objectsOf, type Codec } from '../types/codec';
import { takesJsonAt } from '../types/schema';
import type { SourceProperty } from './source-properties';

/** Which kinds of body a dto uses. */
export interface BodyUse extends PartsTaken {
  readonly json: boolean;
  readonly form: boolean;
  readonly text: boolean;
  /** True if JSON numbers must keep all their digits, for a `long` or a `decimal`. */
  readonly needsExactNumbers: boolean;
}

/** How the parts of a multipart form are used. */
type PartsUse = Pick<BodyUse, 'takesFile' | 'takesJson'>;

export const noParts: PartsUse = { takesFile: () => false, takesJson: () => false };

/**
 * Decides which files of a form are kept: those whose name is declared, even if only to refuse them there; all, if a
 * schema takes the whole form, or if other names are refused. A file of JSON is read as a field if no file is declared
 * under its name: generated clients send objects like this (RFC 7578, section 4.4).
 */
export function partsFor(sourceProperties: readonly SourceProperty[], refusesUnknown: boolean): PartsUse {
  const propertyAt = finderOf(sourceProperties, ({ name }) => name);
  const whole = sourceProperties.find(({ isRoot }) => isRoot)?.codec;
  const root = whole && notNull(whole);
  const codecsOf = (name: string): readonly Codec[] => {
    if (root?.kind === 'record') return [root.item];
    const property = propertyAt(name);
    const members = property ? [property] : root ? objectsOf(root).flatMap(one => one.fieldAt(name) ?? []) : [];
    return members.map(({ codec }) => codec);
  };
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
