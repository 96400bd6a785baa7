export { idempotentFetch, IdempotentFetchError } from './client/idempotent-fetch.js';
export type { IdempotentFetch, IdempotentFetchErrorCode, IdempotentResult } from './client/idempotent-fetch.js';
export type { IdempotentFetchOptions, RetryInfo } from './client/options.js';
export type { IdempotentRequestInit } from './client/request.js';
export type { KeyEntry, KeyStorage } from './client/key-storage.js';
