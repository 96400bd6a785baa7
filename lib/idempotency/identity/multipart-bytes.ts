import { createHash } from 'node:crypto';
import type { MediaType } from '../../body/content/media-type';
import { openReceived, type ReceivedBytes } from '../../body/stream/received';

/** Boundaries of a body that are looked for, at most. With a short boundary, it could be made of nothing else. */
const MOST_BOUNDARIES = 100_000;

/**
 * Returns the parts of a multipart body that is compared by its bytes. A client chooses a new boundary for each
 * attempt, so what takes part is where its boundaries are, and the bytes between them. The boundaries of a multipart
 * body inside of a part are such bytes.
 * @returns undefined if the body contains no boundary, or too many.
 */
export async function multipartBytesParts(
  received: ReceivedBytes,
  { type, parameters }: MediaType,
): Promise<readonly string[] | undefined> {
  const { boundary = '', ...others } = parameters;
  const delimiter = Buffer.from(`--${boundary}`);
  const bytes = createHash('sha256');
  const lengths: number[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    bytes.update(piece);
    length += piece.length;
  };
  let rest = Buffer.alloc(0);
  for await (const chunk of openReceived(received)) {
    const data = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let found; (found = data.indexOf(delimiter, from)) >= 0; from = found + delimiter.length) {
      take(data.subarray(from, found));
      if (lengths.push(length) > MOST_BOUNDARIES) return undefined;
      length = 0;
    }
    // A boundary may continue in the next chunk.
    const upTo = Math.max(from, data.length - delimiter.length + 1);
    take(data.subarray(from, upTo));
    rest = data.subarray(upTo);
  }
  take(rest);
  const places = createHash('sha256').update(lengths.join());
  const hasBoundary = boundary !== '' && lengths.length > 0;
  return hasBoundary
    ? [type, ...Object.entries(others).sort().flat(), places.digest('hex'), bytes.digest('hex')]
    : undefined;
}
