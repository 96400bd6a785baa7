import { idempotency } from 'bindonce';

export const guard = idempotency({ scope: (req, caller) => JSON.stringify([caller, req.get('X-Tenant')]) });
