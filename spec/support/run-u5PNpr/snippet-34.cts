import { bindRequest, date, decimal, dto, fromHeader, int, jsonField, list, string } from 'bindonce';
import express from 'express';

class Line extends dto({
  sku: string.with({ pattern: /^[A-Z]{2}-\d{4}$/ }),
  quantity: int.with({ minimum: 1, maximum: 99 }),
  unitPrice: decimal.with({ minimum: 0, multipleOf: '0.01' }),
}) {}

class Book extends dto({
  lines: jsonField(list(Line, { minItems: 1, maxItems: 20 })),
  email: jsonField(string.with({ format: 'email', trim: true })),
  from: date.with({ minimum: '2026-01-01' }),
  agent: fromHeader(string.with({ minLength: 3 }), { name: 'X-Agent' }),
}) {}

express().post('/bookings', bindRequest(Book), (req, res) => { res.status(201).json(req.dto.lines.length); });
