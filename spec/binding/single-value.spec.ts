import express, { type Express, type Request } from 'express';
import { z } from 'zod';
import {
  configure,
  cookieValue,
  field,
  headerValue,
  int,
  list,
  optional,
  queryValue,
  routeValue,
  string,
  valueParserFor,
  type AnyType,
} from '../../lib';
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

describe.each(expressVersions)('%s', (_version, framework) => {
  // A value, one that cannot be read and its failure, and the failure of one that is missing.
  it.each<[string, typeof headerValue, string, Sent, Sent, object, object]>([
    [
      'routeValue',
      routeValue,
      'ID',
      { path: '/orders/2' },
      { path: '/orders/x' },
      { name: 'ID', in: 'route', detail: `The value "x" ${NO_INT}` },
      { name: 'ID', in: 'route', detail: 'This route parameter is required.' },
    ],
    [
      'queryValue',
      queryValue,
      'Page',
      { path: '/?page=2' },
      { path: '/?page=x' },
      { name: 'Page', in: 'query', detail: `The value "x" ${NO_INT}` },
      { name: 'Page', in: 'query', detail: 'This query parameter is required.' },
    ],
    [
      'headerValue',
      headerValue,
      'x-PAGE',
      { headers: { 'X-Page': '2' } },
      { headers: { 'X-Page': 'x' } },
      { name: 'x-PAGE', in: 'header', detail: `The value "x" ${NO_INT}` },
      { name: 'x-PAGE', in: 'header', detail: 'This header is missing from the request.' },
    ],
    [
      'cookieValue',
      cookieValue,
      'page',
      { headers: { Cookie: 'page=2; Page=3' } },
      { headers: { Cookie: 'page=secret' } },
      { name: 'page', in: 'cookie', detail: `The value ${NO_INT}` },
      { name: 'page', in: 'cookie', detail: 'This cookie is missing from the request.' },
    ],
  ])(
    '%s reads a value, and answers one that it cannot read, or that is missing, with 400, unless it is not required',
    async (_name, reader, name, sent, wrong, unreadable, missing) => {
      const reading = (req: Request) => reader(req, name, int);
      expect(await read(reading, sent, framework)).toEqual({ status: 200, body: 2 });
      for (const [refused, failure] of [
        [wrong, unreadable],
        [{}, missing],
      ] as const) {
        const body = { type: 'urn:bindonce:validation-failed', errors: [failure] };
        expect(await read(reading, refused, framework)).toMatchObject({ status: 400, body });
        const loose = (req: Request) => reader(req, name, int, { required: false });
        expect(await read(loose, refused, framework)).toEqual({ status: 200, body: null });
      }
    },
  );
});

it.each<[string, (req: Request) => unknown, Sent, unknown]>([
  [
    'a header of several lines',
    req => headerValue(req, 'X-Tag', list(string)),
    { headers: { 'X-Tag': ['a', 'b'] } },
    ['a', 'b'],
  ],
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

describe('a type that cannot be read', () => {
  class Money {
    cents = 0;
  }

  it('is answered with 400, or is undefined', async () => {
    const sent = { headers: { 'X-Price': '12.50' } };
    const failure = {
      name: 'X-Price',
      in: 'header',
      detail: 'The value "12.50" is not a value of a type that can be read.',
    };
    expect(await read(req => headerValue(req, 'X-Price', Money), sent)).toMatchObject({
      status: 400,
      body: { errors: [failure] },
    });
    expect(await read(req => headerValue(req, 'X-Price', list(Money), { required: false }), sent)).toEqual({
      status: 200,
      body: null,
    });
  });
});

it.each<[string, (req: Request) => unknown]>([
  [
    'headerValue: the type of "X-Page": a declaration such as field(int) is not a type; write the type alone (int).',
    req => headerValue(req, 'X-Page', field(int) as unknown as AnyType),
  ],
  [
    'cookieValue: the type of "page": The text "int" is not a type that values can be bound to.',
    req => cookieValue(req, 'page', 'int' as unknown as AnyType),
  ],
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
