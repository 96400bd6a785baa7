import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { Problem } from '../../problems/problem';
import { plainBoundaries } from '../content/boundaries';
import { bounded } from '../content/bounded';
import { isCoded } from '../content/decode';
import type { Form, FormOptions } from './form';
import { ExternalError } from './errors';
import { FormReading, type FormSource } from './form-reading';
import { boundaryOf } from '../content/media-type';

/**
 * Parses multipart/form-data (RFC 7578).
 * @param req the request that the chunks come from.
 * @throws a 400, 413 or 415 problem; the error of a storage, a filter, `take` or the chunks.
 */
export function readForm(chunks: AsyncIterable<Buffer>, req: IncomingMessage, options: FormOptions): Promise<Form> {
  return formFrom(req, options, boundary => {
    const { recorder } = options;
    const stream = Readable.from(plainBoundaries(taken(chunks, options), boundary, recorder?.boundaryAt));
    return { stream, start: busboy => void stream.pipe(busboy) };
  });
}

/** Reads a form from a source, with the boundary that the content type of the request names. */
export function formFrom(
  req: IncomingMessage,
  options: FormOptions,
  sourceFor: (boundary: string) => FormSource,
): Promise<Form> {
  return new Promise((resolve, reject) => {
    const boundary = boundaryOf(req);
    if (isCoded(req.headers['content-encoding']))
      reject(new Problem('body-unsupported', 'A multipart form is accepted only without a Content-Encoding.'));
    else if (boundary === '')
      reject(
        new Problem(
          'body-malformed',
          'The content type of the multipart form names no boundary. Let the HTTP client set the Content-Type.',
        ),
      );
    else new FormReading(req, options, sourceFor(boundary), reject).read(boundary, resolve);
  });
}

/**
 * Yields the chunks.
 * @throws ExternalError for a form that is too long, or that `take` or the chunks themselves refuse.
 */
async function* taken(
  chunks: AsyncIterable<Buffer>,
  { formBytes = Infinity, take }: FormOptions,
): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of bounded(chunks, formBytes)) {
      take?.(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw new ExternalError(error);
  }
}
