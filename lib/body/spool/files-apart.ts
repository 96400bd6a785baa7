import { readAfter } from '../content/boundaries';
import { HEAD_END } from '../content/part-head';

/** Bytes of a body, in their order. Those of a long file of a form are apart from the rest. */
export interface Piece {
  readonly bytes: Buffer;
  readonly isApart: boolean;
}

/** The files of one form that are set apart, at most: each is an open file of the process. */
const MOST_FILES = 8;

/** Bytes of a head, at most. A part with a longer one is not set apart. */
const MOST_HEAD = 16_384;

/** Yields the bytes of a body with nothing apart. */
export async function* together(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece, void> {
  for await (const bytes of chunks) yield { bytes, isApart: false };
}

/** Bytes, and chunks, of a block. A small one takes little memory while a client pauses. */
const BLOCK_BYTES = 16_384;
const BLOCK_CHUNKS = 1_000;

/** Yields chunks in blocks, so that bytes which arrive one by one are looked at together. */
export async function* inBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[], void> {
  let block: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      const slice = chunk.subarray(at, at + BLOCK_BYTES);
      block.push(slice);
      size += slice.length;
      if (size < BLOCK_BYTES && block.length < BLOCK_CHUNKS) continue;
      yield block;
      [block, size] = [[], 0];
    }
  yield block;
}

/**
 * Yields the bytes of a multipart form as they are, and sets files apart that do not arrive in one block. What remains
 * without them is a form of the same parts, in which those files are empty.
 */
export async function* filesApart(
  blocks: AsyncIterable<readonly Buffer[]>,
  boundary: string,
): AsyncGenerator<Piece, void> {
  const form = new ArrivingForm(boundary);
  for await (const block of blocks) yield* form.read(block);
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

  *read(block: readonly Buffer[]): Generator<Piece, void> {
    const { delimiter } = this;
    const data = Buffer.concat([this.held, ...block]);
    let from = this.added;
    // A boundary may continue in the next block.
    let upTo = Math.max(0, data.length - delimiter.length + 1);
    for (let found = this.nextBoundary(data, 0); found >= 0;) {
      if (this.isApart) {
        yield { bytes: data.subarray(from, found), isApart: true };
        from = found;
        this.isApart = false;
      }
      const after = followedBy(data, found + delimiter.length);
      if (after.kind === 'end') {
        this.isOver = true;
        upTo = data.length;
        break;
      }
      const start = after.kind === 'part' ? after.at : data.length;
      const next = this.nextBoundary(data, start);
      if (next < 0) {
        const end = endOfHead(data, start);
        // The content may begin with what looks like a boundary, together with the end of the head.
        if (end === undefined || data.length < end + delimiter.length) {
          if (data.length - found <= MOST_HEAD) upTo = found;
        } else if (this.files < MOST_FILES && isOfFile(data.toString('latin1', start, end))) {
          yield { bytes: data.subarray(from, end), isApart: false };
          from = end;
          upTo = Math.max(from, upTo);
          this.isApart = true;
          this.files++;
        }
      }
      found = next;
    }
    yield { bytes: data.subarray(from, upTo), isApart: this.isApart };
    // A copy, because `data` would stay in memory until the client sends more.
    this.held = Buffer.from(data.subarray(upTo));
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

/** Tells what follows a boundary; the form ends with one that is malformed. */
function followedBy(data: Buffer, at: number): ReturnType<typeof readAfter> {
  try {
    return readAfter(data, at);
  } catch {
    return { kind: 'end' };
  }
}

/** Finds where the head of a part ends, if it does. */
function endOfHead(data: Buffer, start: number): number | undefined {
  const found = data.indexOf(HEAD_END, start);
  return found < 0 ? undefined : found + HEAD_END.length;
}

/** Returns true for the head of a file; the parser decides later whether it is one. */
const isOfFile = (head: string): boolean => /filename/i.test(head);
