import { idempotency } from 'bindonce';
import express from 'express';

const app = express();
app.post('/payments', idempotency({ whenKeyReused: 'reject' }), (_req, res) => {
  res.status(201).json({ payment: crypto.randomUUID() });
});
app.listen(3000);
