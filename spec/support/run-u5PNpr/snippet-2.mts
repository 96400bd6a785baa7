import { bindRequest, dto, fromPg, idempotency, int, jsonField, postgresStore, problemDetails } from 'bindonce';
import express from 'express';
import { Pool } from 'pg';

// CREATE TABLE orders (id serial PRIMARY KEY, quantity int NOT NULL)
const connect = () => new Pool({ connectionString: process.env['DATABASE_URL'] }).on('error', console.error);
const [orders, keys] = [connect(), connect()];

class PlaceOrder extends dto({ quantity: jsonField(int.with({ minimum: 1 })) }) {}

const app = express();
app.post('/orders', idempotency({ store: postgresStore(keys) }), bindRequest(PlaceOrder), async (req, res) => {
  await req.idempotency.commitWith(fromPg(orders), async tx => {
    const { rows } = await tx.query('INSERT INTO orders (quantity) VALUES ($1) RETURNING id', [req.dto.quantity]);
    res.status(201).json(rows[0]);                // sent after COMMIT
  });
});
app.use(problemDetails());                        // every other error looks like bindonce's
app.listen(3000);
