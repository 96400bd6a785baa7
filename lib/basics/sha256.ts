import crypto, { createHash } from 'node:crypto';

/**
 * Returns the SHA-256 hash of a text in UTF-8, in hexadecimal. Node can do it in one call since 20.12, in half the time.
 */
export const sha256: (text: string) => string =
  'hash' in crypto ? text => crypto.hash('sha256', text) : text => createHash('sha256').update(text).digest('hex');
