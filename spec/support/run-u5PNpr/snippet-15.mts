import { bindRequest, dto, fromPg, idempotency, int, jsonField, postgresStore, string } from 'bindonce';
import express from 'express';
import { Pool } from 'pg';

// CREATE TABLE orders (id serial PRIMARY KEY, sku text NOT NULL, quantity int NOT NULL)
const connect = (): Pool =>
  new Pool({ connectionString: process.env['DATABASE_URL'] }).on('error', error => { console.error(error); });
const [orders, keys] = [connect(), connect()];

class PlaceOrder extends dto({ sku: jsonField(string), quantity: jsonField(int.with({ minimum: 1 })) }) {}
const once = idempotency({ store: postgresStore(keys) });

express().post('/orders', once, bindRequest(PlaceOrder), async (req, res) => {
  await req.idempotency.commitWith(fromPg(orders), async tx => {            // BEGIN
    const insert = 'INSERT INTO orders (sku, quantity) VALUES ($1, $2) RETURNING id, sku, quantity';
    const { rows } = await tx.query(insert, [req.dto.sku, req.dto.quantity]);
    res.status(201).json(rows[0]);                                          // drafted, not sent
  });                                                                       // COMMIT; then it is sent
});
