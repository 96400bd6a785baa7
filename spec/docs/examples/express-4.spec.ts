import { join } from 'node:path';
import { NodeProcess } from '../../support/servers/node-process';
import { example, isReplay, post } from './example';

describe.each([
  ['Express 4', /^Express 4\./, { NODE_OPTIONS: `--require ${join(__dirname, 'express-4.cjs')}` }],
  ['Express 5', /^Listening/, {}],
])('the example in JavaScript for Express 4, on %s', (_version, firstLine, env) => {
  let shop: NodeProcess;
  const pay = (invoice: string, amount: number) => post(shop, '/payments', { key: 'one', json: { invoice, amount } });

  beforeEach(async () => {
    shop = await NodeProcess.start(example('express-4/server.js'), env);
  });
  afterEach(() => shop.kill());

  it('pays once for a key', async () => {
    expect(shop.output[0]).toMatch(firstLine);
    const [first, retry] = [await pay('tea', 4.5), await pay('tea', 4.5)];
    expect([first.status, isReplay(first), isReplay(retry), retry.text]).toEqual([201, false, true, first.text]);
    expect((await pay('tea', 5)).status).toBe(422);
  });

  it.each([
    ['a declined card', 'tea', 5_000, 402, 'The card was declined.'],
    ['an error that nobody expected', 'unlucky', 1, 500, 'Internal Server Error'],
  ])('answers %s of an asynchronous handler, and a retry with the same', async (_, invoice, amount, status, text) => {
    const [first, retry] = [await pay(invoice, amount), await pay(invoice, amount)];
    expect([first.status, first.text]).toEqual([status, expect.stringContaining(text)]);
    expect([isReplay(retry), retry.status, retry.text]).toEqual([true, status, first.text]);
  });

  it('says what is wrong with a payment', async () => {
    const { status, text } = await pay('tea', 'much' as unknown as number);
    expect([status, text]).toEqual([400, expect.stringContaining('"name":"amount"')]);
  });
});
