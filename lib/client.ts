export { idempotentFetch, type IdempotentFetch, type IdempotentResult } from './client/idempotent-fetch.js';
export { IdempotentFetchError, type IdempotentFetchErrorCode } from './client/fetch-error.js';
export type { IdempotentFetchOptions } from './client/options.js';
export type { IdempotentRequestInit } from './client/request-init.js';
export type { KeyStorage } from './client/key-storage.js';
