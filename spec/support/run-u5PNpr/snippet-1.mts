import { bindRequest, dto, int, jsonField, list, routeParam, string } from 'bindonce';
import express from 'express';

class Line extends dto({ sku: string.with({ minLength: 1 }), quantity: int.with({ minimum: 1 }) }) {}
class PlaceOrder extends dto({ customerId: routeParam(int), lines: jsonField(list(Line, { minItems: 1 })) }) {}

const app = express();
app.post('/customers/:customerId/orders', bindRequest(PlaceOrder), (req, res) => {
  res.status(201).json(req.dto);                  // { customerId: number, lines: Line[] }, no cast
});
app.listen(3000);
