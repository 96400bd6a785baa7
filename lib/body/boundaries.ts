import { Problem } from '../problems/problem';

/** Blanks that are accepted after a boundary. RFC 2046 sets no limit; clients send blanks by mistake only. */
const MOST_BLANKS = 1_000;

/** The bytes after a boundary: the line break before a part, the end, or too few bytes to tell. */
type After = { readonly kind: 'part'; readonly at: number } | { readonly kind: 'end' } | { readonly kind: 'unknown' };

/**
 * Yields the bytes of a multipart form as busboy understands them: without blanks after its boundaries (RFC 2046,
 * section 5.1.1, allows them; busboy would skip the part), and without the bytes after the last boundary.
 * @throws a 400 problem when other bytes follow a boundary, when the closing boundary is missing, and when another
 * boundary follows it: busboy would skip those parts silently.
 */
export async function* plainBoundaries(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first boundary may come without a line break before it; an additional one does no harm.
  let rest: Buffer = Buffer.from('\r\n');
  let hasEnded = false;
  for await (const chunk of chunks) {
    const data = Buffer.concat([rest, chunk]);
    if (hasEnded) {
      // The stream is read to its end, or the rest would be taken for another request.
      rest = afterEnd(data, delimiter);
      continue;
    }
    let from = 0;
    // A boundary may continue in the next chunk.
    let upTo = Math.max(0, data.length - delimiter.length + 1);
    for (let found = data.indexOf(delimiter); found >= 0;) {
      const end = found + delimiter.length;
      const after = readAfter(data, end);
      if (after.kind !== 'part') {
        hasEnded = after.kind === 'end';
        upTo = hasEnded ? end + DASHES : found;
        break;
      }
      if (after.at > end) {
        yield data.subarray(from, end);
        from = after.at;
      }
      upTo = Math.max(after.at, upTo);
      found = data.indexOf(delimiter, after.at);
    }
    if (upTo > from) yield data.subarray(from, upTo);
    rest = data.subarray(upTo);
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
function readAfter(data: Buffer, start: number): After {
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
