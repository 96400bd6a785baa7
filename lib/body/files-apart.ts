import { HEAD_END, readAfter } from './boundaries';

/** Bytes of a body, in their order. Those of a long file of a form are apart from the rest. */
export interface Piece {
  readonly bytes: Buffer;
  readonly isApart: boolean;
}

/** The files of one form that are set apart, at most: each is an open file of the process. */
const MOST_FILES = 8;

/** Bytes of a head that is looked at. A part with a longer one is not set apart. */
const MOST_HEAD = 16_384;

/**
 * Yields the bytes of a multipart form as they are, and sets files apart that are too long to arrive at once. What
 * remains without them is a form of the same parts, in which those files are empty.
 */
export async function* filesApart(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Piece, void> {
  const form = new ArrivingForm(boundary);
  for await (const chunk of chunks) yield* form.read(chunk);
  yield form.rest();
}

class ArrivingForm {
  private readonly delimiter: Buffer;
  /** The bytes that are not passed on yet. The first boundary may come without the line break before it. */
  private held = Buffer.from('\r\n');
  /** Bytes of `held` that are not of the form. */
  private added = this.held.length;
  private isApart = false;
  private files = 0;
  private isOver = false;

  constructor(boundary: string) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  *read(chunk: Buffer): Generator<Piece, void> {
    const { delimiter } = this;
    const data = Buffer.concat([this.held, chunk]);
    let from = this.added;
    // A boundary may continue in the next chunk.
    let upTo = Math.max(0, data.length - delimiter.length + 1);
    for (let found = this.nextBoundary(data, 0); found >= 0;) {
      if (this.isApart) {
        yield { bytes: data.subarray(from, found), isApart: true };
        from = found;
        this.isApart = false;
      }
      const head = headAt(data, found + delimiter.length);
      if (head === 'end') {
        this.isOver = true;
        upTo = data.length;
        break;
      }
      const next = head === 'incomplete' ? -1 : this.nextBoundary(data, head.start);
      // The content may begin with what looks like a boundary, together with the end of the head.
      if (head === 'incomplete' || (next < 0 && data.length < head.end + delimiter.length)) {
        if (data.length - found <= MOST_HEAD) upTo = found;
        break;
      }
      if (next < 0 && this.files < MOST_FILES && isOfFile(data.toString('latin1', head.start, head.end))) {
        yield { bytes: data.subarray(from, head.end), isApart: false };
        from = head.end;
        upTo = Math.max(from, upTo);
        this.isApart = true;
        this.files++;
      }
      found = next;
    }
    yield { bytes: data.subarray(from, upTo), isApart: this.isApart };
    this.held = data.subarray(upTo);
    this.added = Math.max(0, this.added - upTo);
  }

  /** The bytes that are still held when the form is over. */
  rest(): Piece {
    return { bytes: this.held.subarray(this.added), isApart: this.isApart };
  }

  private nextBoundary(data: Buffer, from: number): number {
    return this.isOver ? -1 : data.indexOf(this.delimiter, from);
  }
}

/** The head of a part. */
interface Head {
  readonly start: number;
  readonly end: number;
}

/** Finds the head of the part after a boundary. After the last boundary, or one that is malformed, there is none. */
function headAt(data: Buffer, afterBoundary: number): Head | 'incomplete' | 'end' {
  const after = followedBy(data, afterBoundary);
  if (after.kind === 'end') return 'end';
  const end = after.kind === 'part' ? data.indexOf(HEAD_END, after.at) : -1;
  return after.kind === 'unknown' || end < 0 ? 'incomplete' : { start: after.at, end: end + HEAD_END.length };
}

function followedBy(data: Buffer, at: number): ReturnType<typeof readAfter> {
  try {
    return readAfter(data, at);
  } catch {
    return { kind: 'end' };
  }
}

/** True for the head of a file; the parser decides later whether it is one. */
const isOfFile = (head: string): boolean => /filename/i.test(head);
