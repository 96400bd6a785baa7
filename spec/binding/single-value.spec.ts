import express, { type Request } from 'express';
import { z } from 'zod';
import { configure, cookieValue, field, headerValue, int, list, optional, string, uri, type AnyType } from '../../lib';
import { ask } from '../support/ask';

/** Makes null of a dash. */
const dash = z.string().transform(text => (text === '-' ? null : text));

/** What a handler reads, sent as JSON; a refused value is answered by the reader itself. */
async function read(
  reading: (req: Request) => unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
) {
  const app = express().get('/', (req, res) => {
    res.json(reading(req) ?? null);
  });
  const { status, body } = await ask(app, { method: 'GET', headers });
  return { status, body: body as unknown };
}

it.each<[string, (req: Request) => unknown, Readonly<Record<string, string | readonly string[]>>, unknown]>([
  ['a header, its name in any case', req => headerValue(req, 'x-PAGE', int), { 'X-Page': '2' }, 2],
  ['a header of several lines', req => headerValue(req, 'X-Tag', list(string)), { 'X-Tag': ['a', 'b'] }, ['a', 'b']],
  ['a header that may be missing', req => headerValue(req, 'X-Page', int, { required: false }), {}, null],
  ['a header of an optional type', req => headerValue(req, 'X-Page', optional(int)), {}, null],
  ['a header of which a schema makes null', req => headerValue(req, 'X-Page', dash), { 'X-Page': '-' }, null],
  ['a cookie', req => cookieValue(req, 'page', int), { Cookie: 'page=2; Page=3' }, 2],
  ['a cookie that may be missing', req => cookieValue(req, 'page', int, { required: false }), {}, null],
  [
    'by the parsers of configure()',
    req => configure({ binding: { quoteValues: false } }).headerValue(req, 'Referer', uri),
    { Referer: 'https://shop.example/' },
    'https://shop.example/',
  ],
])('reads %s', async (_title, reading, headers, expected) => {
  expect(await read(reading, headers)).toEqual({ status: 200, body: expected });
});

it.each<[string, (req: Request) => unknown, Readonly<Record<string, string>>, object]>([
  [
    'a missing header',
    req => headerValue(req, 'X-Page', int),
    {},
    { name: 'X-Page', in: 'header', detail: 'This header is missing from the request.' },
  ],
  [
    'a header that cannot be read',
    req => headerValue(req, 'X-Page', int),
    { 'X-Page': 'x' },
    { name: 'X-Page', in: 'header', detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.' },
  ],
  [
    'a missing cookie',
    req => cookieValue(req, 'page', int),
    { Cookie: 'toString=1' },
    { name: 'page', in: 'cookie', detail: 'This cookie is missing from the request.' },
  ],
  [
    'a cookie that cannot be read, and is not repeated',
    req => cookieValue(req, 'page', int),
    { Cookie: 'page=secret' },
    { name: 'page', in: 'cookie', detail: 'The value is not a whole number from -2147483648 to 2147483647.' },
  ],
  [
    'a name that every object has',
    req => cookieValue(req, 'constructor', string),
    { Cookie: 'a=b' },
    { name: 'constructor', in: 'cookie', detail: 'This cookie is missing from the request.' },
  ],
])('answers %s with 400', async (_title, reading, headers, failure) => {
  expect(await read(reading, headers)).toMatchObject({
    status: 400,
    body: { type: 'urn:bindonce:validation-failed', errors: [failure] },
  });
});

describe('a type that cannot be read', () => {
  class Money {
    cents = 0;
  }

  it('is answered with 400, or is undefined, and the application is told once why', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const sent = { 'X-Price': '12.50' };
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
    expect(warn.mock.calls).toEqual([
      [
        'bindonce: headerValue(req, "X-Price") has a type that cannot be read, so it is refused with 400, or undefined with required: false. Money has no declared properties and no static tryParse; declare them with dto({...}) or decorators, or pass a value parser (valueParserFor) or a converter for it, or, if it makes types as list does, call it: list(string).',
        { code: 'BINDONCE_UNREADABLE_TYPE' },
      ],
    ]);
    warn.mockRestore();
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
