// An application that is not exported, and waits until its server listens.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { bindRequest, dto, int } from 'bindonce';
import express from 'express';

const app = express();
app.post('/payments', bindRequest(dto({ amount: int })), (_req, res) => res.end());
await once(createServer(app).listen(0, '127.0.0.1'), 'listening');
