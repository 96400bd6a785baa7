import express, { type Express, type Request } from 'express';
import { z } from 'zod';
import { configure, cookieValue, field, headerValue, int, list, optional, queryValue, routeValue } from '../../lib';
import { string, valueParserFor } from '../../lib';
import type { AnyType } from '../../lib';
import { ask, type Sent } from '../support/ask';
import { expressVersions } from '../support/express-versions';

/** Makes null of a dash. */
const dash = z.string().transform(text => (text === '-' ? null : text));
const dozens = configure({
  binding: { valueParsers: [valueParserFor(int, text => ({ success: true, value: 12 * Number(text) }))] },
});

/** What a handler reads, sent as JSON; a refused value is answered by the reader itself. */
async function read(reading: (req: Request) => unknown, sent: Sent = {}, framework: () => Express = express) {
  const app = framework();
  app.get(['/', '/orders/:id'], (req: Request, res) => {
    res.json(reading(req) ?? null);
  });
  const { status, body } = await ask(app, { method: 'GET', ...sent });
  return { status, body: body as unknown };
}

const NO_INT = 'is not a whole number from -2147483648 to 2147483647.';

const header = (v: string): Sent => ({ headers: { 'X-Page': v } });
const cookie = (v: string): Sent => ({ headers: { Cookie: `page=${v}; Page=3` } });

describe.each(expressVersions)('%s', (_version, framework) => {
  // How a value is sent, under which name it is asked for, and the failure of one that is missing.
  it.each<[string, typeof headerValue, (v: string) => Sent, name: string, none: string]>([
    ['route', routeValue, v => ({ path: `/orders/${v}` }), 'ID', 'This route parameter is required.'],
    ['query', queryValue, v => ({ path: `/?page=${v}` }), 'Page', 'This query parameter is required.'],
    ['header', headerValue, header, 'x-PAGE', 'This header is missing from the request.'],
    ['cookie', cookieValue, cookie, 'page', 'This cookie is missing from the request.'],
  ])(
    'a value of the %s is read; one that cannot be, or is missing, is answered with 400 unless it is not required',
    async (...row) => {
      const [source, reader, sent, name, none] = row;
      expect(await read(req => reader(req, name, int), sent('2'), framework)).toEqual({ status: 200, body: 2 });
      for (const [refused, detail] of [
        [sent('x'), `The value ${source === 'cookie' ? '' : '"x" '}${NO_INT}`],
        [{}, none],
      ] as const) {
        const body = { type: 'urn:bindonce:validation-failed', errors: [{ name, in: source, detail }] };
        expect(await read(req => reader(req, name, int), refused, framework)).toMatchObject({ status: 400, body });
        const loose = (req: Request) => reader(req, name, int, { required: false });
        expect(await read(loose, refused, framework)).toEqual({ status: 200, body: null });
      }
    },
  );
});

const several: Sent = { headers: { 'X-Page': ['a', 'b'] } };
it.each<[string, (req: Request) => unknown, Sent, unknown]>([
  ['a header of several lines', req => headerValue(req, 'X-Page', list(string)), several, ['a', 'b']],
  ['a header of an optional type', req => headerValue(req, 'X-Page', optional(int)), {}, null],
  ['null that a schema makes', req => headerValue(req, 'X-Page', dash), { headers: { 'X-Page': '-' } }, null],
  ['by the parsers of configure()', req => dozens.queryValue(req, 'n', int), { path: '/?n=2' }, 24],
  ['the route by them', req => dozens.routeValue(req, 'id', int), { path: '/orders/2' }, 24],
])('reads %s', async (_title, reading, sent, expected) => {
  expect(await read(reading, sent)).toEqual({ status: 200, body: expected });
});

it('a cookie under a name that every object has is missing', async () => {
  const errors = [{ name: 'constructor', in: 'cookie', detail: 'This cookie is missing from the request.' }];
  const reading = (req: Request) => cookieValue(req, 'constructor', string);
  expect(await read(reading, { headers: { Cookie: 'a=b' } })).toMatchObject({ status: 400, body: { errors } });
});

it('a type that cannot be read is answered with 400, or is undefined', async () => {
  class Money {
    cents = 0;
  }
  const sent = { headers: { 'X-Price': '12.50' } };
  const errors = [{ detail: 'The value "12.50" is not a value of a type that can be read.' }];
  const refused = await read(req => headerValue(req, 'X-Price', Money), sent);
  expect(refused).toMatchObject({ status: 400, body: { errors } });
  const loose = await read(req => headerValue(req, 'X-Price', list(Money), { required: false }), sent);
  expect(loose).toEqual({ status: 200, body: null });
});

it.each<[string, (req: Request) => unknown]>([
  [
    'a declaration such as field(int) is not a type; write the type alone (int).',
    req => headerValue(req, 'X-Page', field(int) as unknown as AnyType),
  ],
  ['"int" is not a type that values can be bound to.', req => cookieValue(req, 'page', 'int' as unknown as AnyType)],
])('%s instead of a type is a mistake of the handler, and the message names the value', async (message, reading) => {
  const messageOf = (req: Request): string => {
    try {
      return String(reading(req));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect((await read(messageOf)).body).toContain(message);
});
