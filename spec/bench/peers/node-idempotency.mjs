import { Idempotency } from '@node-idempotency/core';
import { MemoryStorageAdapter } from '@node-idempotency/storage-adapter-memory';

/** It has no Express middleware: its steps, and what is needed to hand them the response of Express. */
export function nodeIdempotency() {
  const guard = new Idempotency(new MemoryStorageAdapter(), { enforceIdempotency: true });
  return async (req, res, next) => {
    const { headers, path, body, method } = req;
    const asked = { headers: { ...headers, 'Idempotency-Key': headers['idempotency-key'] }, path, body, method };
    const stored = await guard.onRequest(asked);
    if (stored) {
      res.status(stored.additional.status).set('Content-Type', stored.additional.type).send(stored.body);
      return;
    }
    const send = res.send.bind(res);
    res.send = text => {
      // It answers before it has stored: the promise is not waited for.
      if (typeof text === 'string')
        void guard.onResponse(asked, {
          body: text,
          additional: { status: res.statusCode, type: res.get('Content-Type') },
        });
      return send(text);
    };
    next();
  };
}
