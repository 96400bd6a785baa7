import { idempotency } from 'bindonce';
import express from 'express';
import { createHmac, timingSafeEqual } from 'node:crypto';

const secret = process.env['WEBHOOK_SECRET'];
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret of the provider.');

const app = express();
app.use('/webhooks', express.raw({ type: '*/*' }), (req, res, next) => {
  const body: unknown = req.body;                               // undefined for a request without a body
  const expected = createHmac('sha256', secret).update(Buffer.isBuffer(body) ? body : '').digest();
  const sent = Buffer.from(req.get('X-Signature') ?? '', 'hex');
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) next();
  else res.sendStatus(401);
});
app.post(
  '/webhooks/payments',
  idempotency({
    headerName: 'X-Event-Id',
    ignoreRequestBody: true,                                      // deliveries of one event may differ, in a counter or a time
    scope: () => 'payments provider',
    cacheDuration: 3 * 24 * 60 * 60 * 1000,                       // as long as the provider retries
    shouldCache: ({ status }) => status >= 200 && status < 300,   // after all else, the next delivery runs
  }),
  (req, res) => {
    const event = JSON.parse((req.body as Buffer).toString()) as { type: string };
    console.log(event.type);
    res.sendStatus(204);
  },
);
