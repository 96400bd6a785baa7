export { makeIdempotency } from './idempotency/idempotency';
