// Tests with supertest and node's own runner: node --test. (For jest, leave out the line of node:test.)
// npm install --save-dev supertest keyv@5
const assert = require('node:assert/strict');
const { beforeEach, describe, it } = require('node:test');
const { Keyv } = require('keyv');
const request = require('supertest');
const { createApp } = require('./app.js');

describe('POST /payments', () => {
  let app;
  let charged;

  beforeEach(() => {
    charged = [];
    const charge = async invoice => `payment-${charged.push(invoice)}`;
    // A store for each test: a key of an earlier test is not known, and the same key can be used again.
    app = createApp({ charge, store: new Keyv() });
  });

  const pay = (key, body = { invoice: 'tea', amount: 4.5 }) =>
    request(app).post('/payments').set('Idempotency-Key', key).send(body);

  it('charges once, and answers a retry with the same response', async () => {
    const first = await pay('a').expect(201, { id: 'payment-1' });
    const retry = await pay('a').expect(201, first.text).expect('Idempotent-Replayed', 'true');
    assert.equal(retry.text, first.text);
    assert.deepEqual(charged, ['tea']);
  });

  it('charges once for two requests at the same time', async () => {
    const [one, other] = await Promise.all([pay('a'), pay('a')]);
    assert.equal(one.text, other.text);
    assert.deepEqual(charged, ['tea']);
  });

  it('charges twice for two keys', async () => {
    await pay('a').expect(201, { id: 'payment-1' });
    await pay('b').expect(201, { id: 'payment-2' });
  });

  it('refuses another payment with a known key', async () => {
    await pay('a').expect(201);
    await pay('a', { invoice: 'tea', amount: 5 }).expect(422);
    assert.deepEqual(charged, ['tea']);
  });

  it('refuses a payment without a key, and one that is not valid; its key can be used again', async () => {
    await request(app).post('/payments').send({ invoice: 'tea', amount: 4.5 }).expect(400);
    const refused = await pay('a', { invoice: 'tea', amount: 'much' }).expect(400);
    assert.deepEqual(
      refused.body.errors.map(({ name }) => name),
      ['amount'],
    );
    assert.deepEqual(charged, []);
    await pay('a').expect(201);
  });
});
