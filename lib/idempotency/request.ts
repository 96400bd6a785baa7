import type { RequestIdempotency } from './start-handler';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- the place that Express's types have for what middlewares add
  namespace Express {
    interface Request {
      /** The guard of this request; set by `idempotency()`. */
      idempotency: RequestIdempotency;
    }
  }
}
