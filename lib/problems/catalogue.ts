/**
 * All problems that the middlewares can answer with: status, title and, in the comment, the meaning. The documents'
 * table of problems is made from this list.
 */
export const catalogue = {
  /** The request has no idempotency key, or a blank one. */
  'key-missing': { status: 400, title: 'Idempotency key is missing' },
  /** The request has more than one idempotency key header. */
  'key-repeated': { status: 400, title: 'Idempotency key is repeated' },
  /** The idempotency key does not match `keyPattern`. */
  'key-malformed': { status: 400, title: 'Idempotency key is malformed' },
  /** The key was used for another request (`whenKeyReused: 'reject'`). */
  'key-reused': { status: 422, title: 'Idempotency key is already used' },
  /** The first request has not been answered yet; retry later. */
  'request-in-flight': { status: 409, title: 'A request with this idempotency key is in flight' },
  /** The request was executed, and its response was too large to keep or is lost. */
  'response-unavailable': { status: 409, title: 'The response is no longer available' },
  /** Its process died, and nobody has settled what it has done (`whenOwnerDies: 'refuse'`). */
  'outcome-unknown': { status: 409, title: 'It is not known whether the request was executed' },
  /** The store is down or too slow; retry later with the same key. */
  'store-unavailable': { status: 503, title: 'The idempotency store is unavailable' },
  /** The body is not what its content type says: broken JSON, form, encoding or charset. */
  'body-malformed': { status: 400, title: 'Request body is malformed' },
  /** The body, a field, a file, or the number of them exceeds a limit. */
  'body-too-large': { status: 413, title: 'Request body is too large' },
  /** The query has more parameters than `limits.fields` allows. */
  'query-too-large': { status: 414, title: 'URL has too many query parameters' },
  /** The endpoint does not read this content type, charset or encoding. */
  'body-unsupported': { status: 415, title: 'Request body is of an unsupported type' },
  /** The disk for temporary files and uploads is full. */
  'storage-full': { status: 507, title: 'The server has no room for the request body' },
  /** The disk for temporary files and uploads fails; retry later. */
  'storage-unavailable': { status: 503, title: 'The server cannot store the request body' },
  /** All requests together hold as much as the process allows; retry later. */
  'server-busy': { status: 503, title: 'The server has too many large requests' },
  /** Values are missing or wrong, or the caller lacks a permission; `errors` lists them. */
  'validation-failed': { status: 400, title: 'One or more values are not valid' },
  /** The endpoint needs a caller (`allowAnonymous: false`). */
  unauthenticated: { status: 401, title: 'Authentication is required' },
} as const;

/** The code of a problem. */
export type ProblemCode = keyof typeof catalogue;
