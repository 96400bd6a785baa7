import type { RequestIdempotency } from './run';

declare module 'express-serve-static-core' {
  // The type parameters must be letter-identical to those of @types/express-serve-static-core.
  interface Request {
    /** The guard of this request; set by `idempotency()`. */
    idempotency: RequestIdempotency;
  }
}
