import { idempotency, operate, postgresStore } from 'bindonce';
import express from 'express';
import { Pool } from 'pg';

const once = idempotency({ store: postgresStore(new Pool()) });
declare const isOperator: (req: express.Request) => Promise<boolean>;      // yours

const app = express();
app.use('/operate', operate(once, { allow: isOperator }));
app.post('/orders', once, (_req, res) => { res.sendStatus(201); });
