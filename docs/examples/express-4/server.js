// Express 4 in plain JavaScript, CommonJS: payments, with the errors of asynchronous handlers handled.
// npm install bindonce express@4
const { bindRequest, decimal, dto, idempotency, jsonField, problemDetails, string } = require('bindonce');
const express = require('express');

class Pay extends dto({ invoice: jsonField(string), amount: jsonField(decimal) }) {}

/**
 * Express 4 does not look at the promise of a handler: where it rejects, the request is never answered, and the process
 * ends. (Express 5 needs no wrapper.)
 */
const wrap = handler => (req, res, next) => {
  Promise.resolve(handler(req, res, next)).catch(next);
};

/** Stands for a payment provider. */
async function charge(invoice, amount) {
  if (amount.isGreaterThan(1_000)) {
    throw Object.assign(new Error('The card was declined.'), { status: 402, expose: true });
  }
  if (invoice === 'unlucky') throw new Error('The provider speaks in riddles');
  return `charge-${Math.random().toString(36).slice(2)}`;
}

const app = express();

app.post(
  '/payments',
  // For as long as bindonce/client keeps a key. Without a `store`, a restart loses all responses: a retry pays again.
  idempotency({ cacheDuration: 24 * 60 * 60 * 1000, whenKeyReused: 'reject' }),
  bindRequest(Pay),
  wrap(async (req, res) => {
    const { invoice, amount } = req.dto;
    res.status(201).json({ charge: await charge(invoice, amount), invoice, amount });
  }),
);

// Answers what bindonce refuses, errors with `status` and `expose` such as the declined card, and all others with 500,
// whose message is printed and not sent. The handler has run, so a retry gets that again, and does not run.
app.use(problemDetails());

const server = app.listen(Number(process.env.PORT || 3000), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`);
});
