import { idempotency } from 'bindonce';
import express from 'express';

express().post('/orders', idempotency(), async (req, res) => {
  const stock = await fetch('https://stock.example/reserve', { method: 'POST' });
  if (stock.status === 503) {
    req.idempotency.forget();                                   // nothing was reserved
    res.status(503).set('Retry-After', '5').end();
    return;
  }
  if (!stock.ok) throw new Error(`The stock answered ${stock.status}`);   // perhaps reserved: this 500 is stored
  res.status(201).end();
});
