import { Problem } from '../../problems/problem';
import { PartHead } from './part-head';

/** Blanks that are accepted after a boundary. RFC 2046 sets no limit; clients send blanks by mistake only. */
const MOST_BLANKS = 1_000;

/** The bytes after a boundary: the line break before a part, the end, or too few bytes to tell. */
type After = { readonly kind: 'part'; readonly at: number } | { readonly kind: 'end' } | { readonly kind: 'unknown' };

/**
 * Yields the bytes of a multipart form as busboy understands them: without blanks after its boundaries (RFC 2046,
 * section 5.1.1, allows them; busboy would skip the part), and without the bytes after the last boundary.
 * @param boundaryAt called for each boundary, with the position of the line break before it in the form.
 * @throws a 400 problem for forms that busboy would misread silently, or never finish: other bytes follow a boundary, a
 * boundary is in the head of a part, that has no `Content-Disposition` that busboy can read, the closing boundary is
 * missing, or another boundary follows it.
 */
export async function* plainBoundaries(
  chunks: AsyncIterable<Buffer>,
  boundary: string,
  boundaryAt?: (position: number) => void,
): AsyncGenerator<Buffer, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const head = new PartHead();
  // The first boundary may come without a line break before it; an additional one does no harm.
  let rest: Buffer = Buffer.from('\r\n');
  /** The position of `rest` in the form. */
  let position = -rest.length;
  let hasEnded = false;
  for await (const chunk of chunks) {
    const data = Buffer.concat([rest, chunk]);
    if (hasEnded) {
      // The stream is read to its end, or the rest would be taken for another request.
      rest = afterEnd(data, delimiter);
      continue;
    }
    let from = 0;
    let partFrom = 0;
    // A boundary may continue in the next chunk.
    let upTo = Math.max(0, data.length - delimiter.length + 1);
    for (let found = data.indexOf(delimiter); found >= 0;) {
      const end = found + delimiter.length;
      const after = readAfter(data, end);
      if (after.kind === 'unknown') {
        upTo = found;
        break;
      }
      head.read(data.subarray(partFrom, found));
      head.endPart();
      boundaryAt?.(position + found);
      if (after.kind === 'end') {
        hasEnded = true;
        upTo = end + DASHES;
        break;
      }
      head.beginPart();
      partFrom = after.at;
      if (after.at > end) {
        yield data.subarray(from, end);
        from = after.at;
      }
      upTo = Math.max(after.at, upTo);
      found = data.indexOf(delimiter, after.at);
    }
    head.read(data.subarray(partFrom, upTo));
    if (upTo > from) yield data.subarray(from, upTo);
    rest = data.subarray(upTo);
    position += upTo;
    if (hasEnded) rest = afterEnd(rest, delimiter);
  }
  if (!hasEnded) throw new Problem('body-malformed', 'The multipart form has no closing boundary.');
}

/** Returns the last bytes, since a boundary may begin in them. @throws a 400 problem when there is a boundary. */
function afterEnd(data: Buffer, delimiter: Buffer): Buffer {
  if (data.includes(delimiter))
    throw new Problem('body-malformed', 'The multipart form continues after its closing boundary.');
  return data.subarray(Math.max(0, data.length - delimiter.length));
}

/** The number of dashes that mark the closing boundary. */
const DASHES = 2;

const TAB = 0x09,
  LF = 0x0a,
  CR = 0x0d,
  BLANK = 0x20,
  DASH = 0x2d;

/**
 * Reads the bytes after a boundary.
 * @throws a 400 problem for any but blanks and a line break, or the dashes of the end.
 */
export function readAfter(data: Buffer, start: number): After {
  let at = start;
  while (data[at] === BLANK || data[at] === TAB) at++;
  const [first, second] = [data[at], data[at + 1]];
  if (at - start <= MOST_BLANKS) {
    if (first === undefined || (second === undefined && (first === CR || (first === DASH && at === start))))
      return { kind: 'unknown' };
    if (first === CR && second === LF) return { kind: 'part', at };
    if (first === DASH && second === DASH && at === start) return { kind: 'end' };
  }
  throw new Problem('body-malformed', 'In the multipart form, a boundary is not followed by a line break.');
}
