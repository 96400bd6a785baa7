import { isOnlyStored, type ByteRange, type FormPart } from './form-parts';

/**
 * Returns the parts of a form that was parsed without the content of some files, with their places in the whole form.
 * @param apart where that content is in the whole form.
 * @returns undefined if it is not of files whose bytes are only stored: then the parts of the whole form are others.
 */
export function withContent(parts: readonly FormPart[], apart: readonly ByteRange[]): readonly FormPart[] | undefined {
  const left = [...apart];
  let before = 0;
  const placed = parts.map((part): FormPart => {
    if (part.kind === 'field') return part;
    const start = part.start + before;
    const [next] = left;
    if (next?.start === start && part.end === part.start && isOnlyStored(part)) {
      left.shift();
      before += next.end - next.start;
    }
    return { ...part, start, end: part.end + before };
  });
  return left.length === 0 ? placed : undefined;
}
