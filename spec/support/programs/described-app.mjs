// An application that exports itself.
import { bindRequest, dto, idempotency, int } from 'bindonce';
import express from 'express';

export const app = express();
app.post('/orders', idempotency(), bindRequest(dto({ quantity: int })), (_req, res) => res.end());
