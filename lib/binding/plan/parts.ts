import type { PartsTaken } from '../../body/parts';
import { hasFile, type Codec } from '../types/codec';
import type { SourceProperty } from './source-properties';

export const noParts: PartsTaken = { takesFile: () => false, takesJson: () => false };

/**
 * Decides which files of a form are kept: those whose name is declared, even if only to refuse them there; all, if a
 * schema takes the whole form. A file of JSON is read as a field if no file is declared under its name: generated
 * clients send objects like this (RFC 7578, section 4.4).
 */
export function partsFor(sourceProperties: readonly SourceProperty[]): PartsTaken {
  const byName = new Map(sourceProperties.map(({ name, codec }) => [firstPart(name), codec]));
  const root = sourceProperties.find(({ isRoot }) => isRoot)?.codec;
  const codecOf = (name: string): Codec<unknown> | undefined =>
    byName.get(firstPart(name)) ?? root?.memberCalled?.(firstPart(name))?.codec;
  return {
    // Only the names of a schema are unknown.
    takesFile: name => codecOf(name) !== undefined || (root !== undefined && !root.memberCalled),
    takesJson(name) {
      const codec = codecOf(name);
      return codec !== undefined && !hasFile(codec);
    },
  };
}

const firstPart = (name: string): string => (name.split(/[.[]/, 1)[0] ?? '').toLowerCase();
