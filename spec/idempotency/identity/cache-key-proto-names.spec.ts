import express from 'express';
import Keyv from 'keyv';
import { idempotency } from '../../../lib';
import { send, type WireRequest } from '../../support/listen';
import { multipart } from '../../support/multipart';
import { serve } from '../../support/serve';

/** How often the handler runs when each of two requests under one key is sent twice. */
async function runsOf(...requests: readonly (WireRequest & { readonly path?: string })[]): Promise<number> {
  let runs = 0;
  const { url } = await serve(
    express().post('/', idempotency({ store: new Keyv() }), (_req, res) => {
      res.json(++runs);
    }),
  );
  for (const { path = '/', headers = {}, ...sent } of [...requests, ...requests])
    expect((await send(url + path, { ...sent, headers: { 'Idempotency-Key': 'k', ...headers } })).status).toBe(200);
  return runs;
}

const inQuery = (name: string, value: string) => ({ path: `/?${name}=${value}` });
const inForm = (name: string, value: string) => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: `${name}=${value}`,
});
const inMultipart = (name: string, value: string) => multipart([{ name, value }], 'b1');

describe.each([
  ['a query', inQuery],
  ['a form', inForm],
  ['a multipart form', inMultipart],
])('in %s', (_where, sent) => {
  it.each([
    '__proto__',
    'constructor',
    '__proto__[a]',
    'constructor[prototype]',
    'a[__proto__]',
    'hasOwnProperty',
    'toString',
  ])('two values of %s are two requests', async name => {
    expect(await runsOf(sent(name, '1'), sent(name, '2'))).toBe(2);
  });
});
