import type { RequestIdempotency } from './request-idempotency';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- Express's types are extended in this namespace
  namespace Express {
    interface Request {
      /** The guard of this request; set by `idempotency()`. */
      idempotency: RequestIdempotency;
    }
  }
}
