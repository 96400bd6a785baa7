// An application that exports itself, and a server of it that must not listen while the application is described.
import { bindRequest, dto, idempotency, int } from 'bindonce';
import express from 'express';

export const app = express();
app.post('/orders', idempotency(), bindRequest(dto({ quantity: int })), (_req, res) => res.end());
app.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening'));
console.log('loaded');
