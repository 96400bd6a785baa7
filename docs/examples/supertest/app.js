// An application as tests want it: it does not listen, and gets what it works with from outside.
// npm install bindonce express
const { bindRequest, decimal, dto, idempotency, jsonField, problemDetails, string } = require('bindonce');
const express = require('express');

class Pay extends dto({ invoice: jsonField(string), amount: jsonField(decimal) }) {}

/**
 * @param charge pays, and returns the id of the payment
 * @param store a Keyv; undefined: the store in memory that all applications of the process share
 */
exports.createApp = ({ charge, store }) => {
  const app = express();
  app.post('/payments', idempotency({ store, whenKeyReused: 'reject' }), bindRequest(Pay), async (req, res) => {
    const { invoice, amount } = req.dto;
    res.status(201).json({ id: await charge(invoice, amount) });
  });
  app.use(problemDetails());
  return app;
};
