import express, { type Express } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, bool, dto, hasPermission, idempotency, int, list, optional, queryParam } from '../../../lib';
import { string } from '../../../lib';
import type { AnyType, BindingOptions, IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { urlEncoded } from '../../support/one-endpoint';

class Order extends dto({ sku: string, sizes: optional(list(int)), rush: queryParam(bool, { default: false }) }) {}
const ORDER = { sku: 'tea', sizes: [3, 1] };
const valid: Sent = { json: ORDER };
const multipart = (body: string): Sent => ({ body, headers: { 'Content-Type': 'multipart/form-data; boundary=x' } });

interface Endpoint {
  framework?: () => Express;
  idempotent?: IdempotencyOptions;
  binding?: BindingOptions;
  Dto?: AnyType;
}

/** Sends one request after another under one key to an endpoint that counts its runs, and answers with their number. */
async function oneKey(
  requests: readonly Sent[],
  { framework = express, idempotent = {}, binding = urlEncoded, Dto = Order }: Endpoint = {},
): Promise<string[]> {
  let runs = 0;
  const app = framework();
  app.post('/', idempotency({ store: new Keyv(), ...idempotent }), bindRequest(Dto, binding), (_req, res) => {
    res.status(201).json(++runs);
  });
  const answers: string[] = [];
  for (const sent of requests) {
    const { status, headers, text } = await ask(app, { ...sent, key: 'k' });
    const replayed = headers['idempotent-replayed'] === undefined ? '' : ' replayed';
    answers.push(status === 201 ? `run ${text}${replayed}` : `${status}${replayed}`);
  }
  return answers;
}

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, Sent, string]>([
    ['a value that is not valid', { json: { sku: 7 } }, '400'],
    ['a missing value', { json: {} }, '400'],
    ['a bad query', { json: ORDER, path: '/?rush=x' }, '400'],
    ['malformed JSON', { json: '{' }, '400'],
    ['malformed multipart', multipart('--x\r\n'), '400'],
    [
      'a file whose Content-Disposition cannot be read',
      multipart('--x\r\nContent-Disposition: form-data; name="f"; filename="a "b".pdf"\r\n\r\n1\r\n--x--\r\n'),
      '400',
    ],
    ['an unsupported body', { body: 'x', headers: { 'Content-Type': 'text/plain' } }, '415'],
    ['an unknown coding', { json: ORDER, headers: { 'Content-Encoding': 'zip' } }, '415'],
    ['a body that is too large', { json: { sku: 'x'.repeat(2_000_000) } }, '413'],
  ])(
    '%s is refused each time it comes, and a corrected request with the same key runs once',
    async (_what, sent, status) => {
      const answers = await oneKey([sent, sent, valid, valid], { framework });
      expect(answers).toEqual([status, status, 'run 1', 'run 1 replayed']);
    },
  );
});

it('the same request runs when the reason of its refusal is gone: an anonymous caller, a missing permission', async () => {
  class Guarded extends dto({ sku: string, may: hasPermission('orders:write') }) {}
  let asked = 0;
  const binding: BindingOptions = {
    allowAnonymous: false,
    claims: () => (++asked > 1 ? { sub: 'a', permissions: asked > 4 ? ['orders:write'] : [] } : undefined),
  };
  const endpoint = { Dto: Guarded, binding, idempotent: { scope: () => 'everyone' } };
  expect(await oneKey([valid, valid, valid, valid], endpoint)).toEqual(['401', '400', 'run 1', 'run 1 replayed']);
});

it('a body that must not take part in the key is bound all the same', async () => {
  const answers = await oneKey([valid, { json: { sku: 'other' } }], { idempotent: { ignoreRequestBody: true } });
  expect(answers).toEqual(['run 1', 'run 1 replayed']);
});
