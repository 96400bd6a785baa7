/** The payment that clients of the scenario `idempotency` send, 190 bytes, and its handler. */

export const payment = JSON.stringify({
  account: 'DE89370400440532013000',
  amount: 4250,
  currency: 'EUR',
  reference: 'Invoice 2026-0417, two chairs and a table',
  recipient: 'Someone Example',
  note: 'second floor, please ring twice',
});

export const pay = (req, res) => {
  res.status(201).json({ id: 'p-1', amount: req.body.amount, currency: req.body.currency, status: 'accepted' });
};
