import { apiDocs, bindRequest, dto, idempotency, int, jsonField, string } from 'bindonce';
import express from 'express';

class PlaceOrder extends dto({ sku: jsonField(string), quantity: jsonField(int) }) {}

const app = express();
app.post('/orders', idempotency(), bindRequest(PlaceOrder), (req, res) => {
  res.status(201).json({ order: crypto.randomUUID(), sku: req.dto.sku });
});
app.use('/docs', apiDocs(app, { info: { title: 'Shop', version: '1.0.0' } }));
app.listen(3000);
