export { idempotentFetch, type IdempotentFetch, type IdempotentResult } from './client/idempotent-fetch.js';
export { IdempotentFetchError, type IdempotentFetchErrorCode } from './client/error.js';
export type { IdempotentFetchOptions, RetryInfo } from './client/options.js';
export type { IdempotentRequestInit } from './client/request.js';
export type { KeyEntry, KeyStorage } from './client/key-storage.js';
