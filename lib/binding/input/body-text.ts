import { textOf, uncompressed } from '../../body/decode';
import type { MediaType } from '../../body/media-type';
import { allBytes, type Received } from '../../body/received';
import type { SettledLimits } from '../limits';

/** The text of a received body. @throws a 400, 413 or 415 problem when it is no text within the limits. */
export async function textIn(received: Received, mediaType: MediaType, limits: SettledLimits): Promise<string> {
  switch (received.kind) {
    case 'none': return '';
    case 'bytes':
    case 'file': return textOf(await uncompressed(await allBytes(received), received.coding, limits.bodyBytes), mediaType);
    case 'parsed': if (typeof received.body === 'string') return received.body;
  }
  throw new Error('bindonce: a plain text dto needs the raw body, but it was parsed before. Mount bindRequest() before the body parser, or set req.rawBody to the bytes.');
}
