import { bindRequest, dto, fromHeader, jsonField, queryParam, routeParam, guid } from 'bindonce';
import express from 'express';
import { z } from 'zod';

const Line = z.object({ sku: z.string().min(1), quantity: z.int().min(1) });

class PlaceOrder extends dto({
  customerId: routeParam(guid),                            // was: z.object({ customerId: z.uuid() }).parse(req.params)
  notify: queryParam(z.stringbool().default(false)),       // was: .parse(req.query), each value a string
  tenant: fromHeader(z.string(), { name: 'X-Tenant' }),
  lines: jsonField(z.array(Line).min(1)),                  // was: .parse(req.body), behind express.json()
}) {}

const app = express();
app.post('/customers/:customerId/orders', bindRequest(PlaceOrder), (req, res) => { res.status(201).json(req.dto.lines.length); });
app.put('/lines', bindRequest(Line), (req, res) => { res.json(req.dto.sku); });
