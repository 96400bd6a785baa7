import express from 'express';
import { z } from 'zod';
import { bindRequest, decimal, double, dto, enumOf, field, int, list, long, string, type AnyType } from '../../../lib';
import { isExactNumber } from '../../../lib/body/content/exact-json';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** What looks like a number of lossless-json, and is data of a client. */
const lookalikes: readonly [string, unknown][] = [
  ['the mark', { isLosslessNumber: true }],
  ['the mark and a value', { isLosslessNumber: true, value: '7' }],
  ['the mark and a value that is none', { isLosslessNumber: true, value: { toString: 1 } }],
  ['the mark and methods', { isLosslessNumber: true, value: '7', toString: 'x', valueOf: 'y' }],
];

it('an exact number is recognised by its class only, not by a mark', () => {
  expect(
    isExactNumber({ isLosslessNumber: true, value: '7', [Symbol.for('lossless-json.LosslessNumber')]: true }),
  ).toBe(false);
});

describe.each(lookalikes)('an object like a number is an object: %s', (_what, sent) => {
  it.each<[string, AnyType]>([
    ['int', int],
    ['long', long],
    ['double', double],
    ['decimal', decimal],
    ['string', string],
    ['enum', enumOf({ seven: 7 })],
    ['list', list(int)],
  ])('%s refuses it', async (_name, type) => {
    // A decimal beside it, so that numbers keep their digits.
    class Pay extends dto({ v: type, exact: decimal }) {}
    expect((await bind(Pay, { json: { v: sent, exact: 1 } })).errors).toMatchObject([
      { name: 'v', in: 'json', pointer: '/v', detail: expect.stringContaining('{…}') as string },
    ]);
  });

  it('a dto takes it for an object', async () => {
    class Pay extends dto({ v: dto({ value: field(z.any(), { required: false }) }), exact: decimal }) {}
    expect((await bind(Pay, { json: { v: sent, exact: 1 } })).status).toBe(200);
    expect(
      (await bind(dto({ value: z.any(), exact: decimal }), { json: sent as object })).errors.map(({ name }) => name),
    ).toContain('exact');
  });

  it('a schema gets it as it was sent', async () => {
    class Pay extends dto({ v: z.any(), exact: decimal }) {}
    expect((await bind(Pay, { json: { v: sent, exact: 1 } })).dto?.v).toEqual(sent);
    expect((await bind(z.any(), { json: sent as object })).dto).toEqual(sent);
  });

  it('it is written as it is', async () => {
    class Echo extends dto({ v: z.any(), exact: decimal }) {}
    const app = express().post('/', bindRequest(Echo, { responses: { 200: Echo } }), (req, res) => {
      res.json(req.dto);
    });
    expect((await ask(app, { json: { v: sent, exact: 1 } })).body).toEqual({ v: sent, exact: 1 });
  });
});
