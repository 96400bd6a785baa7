import { bindRequest, decimal, dto, idempotency, jsonField, string } from 'bindonce';
import express from 'express';

class Pay extends dto({ invoice: jsonField(string), amount: jsonField(decimal) }) {}

const once = idempotency({ cacheDuration: 24 * 60 * 60 * 1000, whenKeyReused: 'reject' });

express().post('/payments', once, bindRequest(Pay), async (req, res) => {
  const { idempotency: guard } = req;
  try {
    guard.signal.throwIfAborted();                    // another attempt may be running by now
    const charge = await fetch('https://payments.example/charges', {
      method: 'POST',
      headers: { 'Idempotency-Key': guard.derivedKey('charge'), 'Content-Type': 'application/json' },
      body: JSON.stringify({ invoice: req.dto.invoice, amount: req.dto.amount.toFixed(2) }),
      signal: AbortSignal.any([guard.signal, AbortSignal.timeout(20_000)]),
    });
    // 409: the provider still works on this key; 401, 403, 408, 425, 429, 5xx: it has not decided. Only 402 is for good.
    if (!charge.ok && charge.status !== 402) throw new Error(`The provider answered ${charge.status}`);
    res.status(charge.ok ? 201 : 402).json(await charge.json());
  } catch (error) {
    // Charged or not: the retry asks the provider again, under the same key.
    console.error(error);
    guard.forget();
    res.status(503).set('Retry-After', '5').end();
  }
});
