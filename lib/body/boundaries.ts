import { Problem } from '../problems/problem';

/** Blanks that may stand after a boundary. RFC 2046 sets no bound; nobody sends any but by mistake. */
const MOST_BLANKS = 1_000;

/** What comes after a boundary. `unknown`: more bytes are needed to tell. */
type After = { readonly kind: 'part'; readonly at: number } | { readonly kind: 'end' } | { readonly kind: 'unknown' };

/**
 * The bytes of a multipart form as busboy understands them: without blanks behind its boundaries (RFC 2046, section 5.1.1,
 * allows them; busboy would skip the part), and without what comes after the last one.
 * @throws a 400 problem when something else follows a boundary, since busboy would skip that part without a word, for a form
 * without a closing boundary, and for one with another boundary after it: those parts would be lost in silence.
 */
export async function* plainBoundaries(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // Before the first boundary there may be no line break; one more does no harm.
  let rest: Buffer = Buffer.from('\r\n');
  let hasEnded = false;
  for await (const chunk of chunks) {
    const data = Buffer.concat([rest, chunk]);
    if (hasEnded) {
      // The end of the stream is waited for, or the rest would be taken for another request.
      rest = afterEnd(data, delimiter);
      continue;
    }
    let from = 0;
    // A boundary may go on in the next chunk.
    let upTo = Math.max(0, data.length - delimiter.length + 1);
    for (let found = data.indexOf(delimiter); found >= 0;) {
      const end = found + delimiter.length;
      const after = whatComes(data, end);
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

/** @returns the last bytes, with which a boundary may begin. @throws a 400 problem when there is a boundary. */
function afterEnd(data: Buffer, delimiter: Buffer): Buffer {
  if (data.includes(delimiter))
    throw new Problem('body-malformed', 'The multipart form goes on after its closing boundary.');
  return data.subarray(Math.max(0, data.length - delimiter.length));
}

/** The bytes that make a boundary the last one. */
const DASHES = 2;

const TAB = 0x09,
  LF = 0x0a,
  CR = 0x0d,
  BLANK = 0x20,
  DASH = 0x2d;

function whatComes(data: Buffer, start: number): After {
  let at = start;
  while (data[at] === BLANK || data[at] === TAB) at++;
  const [first, second] = [data[at], data[at + 1]];
  if (at - start <= MOST_BLANKS) {
    if (first === undefined || (second === undefined && (first === CR || (first === DASH && at === start))))
      return { kind: 'unknown' };
    if (first === CR && second === LF) return { kind: 'part', at };
    if (first === DASH && second === DASH && at === start) return { kind: 'end' };
  }
  throw new Problem(
    'body-malformed',
    'In the multipart form, a boundary is followed by something else than a line break.',
  );
}
