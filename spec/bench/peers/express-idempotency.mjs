import { getSharedIdempotencyService, idempotency } from 'express-idempotency';

export const expressIdempotency = () => [
  idempotency(),
  (req, _res, next) => {
    if (!getSharedIdempotencyService().isHit(req)) next();
  },
];
