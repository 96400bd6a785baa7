import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import multer from 'multer';
import { z } from 'zod';
import { bool, dateTime, decimal, dto, field, file, fromForm, idempotency, int, list, nullable } from '../../../lib';
import { optional, string } from '../../../lib';
import type { AnyType, BindingOptions } from '../../../lib';
import { ask, pairs, type Sent } from '../../support/ask';
import { multipart } from '../../support/multipart';
import { bind, outcome, type EndpointOptions } from '../../support/one-endpoint';

const kinds = [
  ['multipart', (text: string): Sent => ({ multipart: pairs(text) })],
  ['urlencoded', (text: string): Sent => ({ form: pairs(text) })],
] as const;

class Signup extends dto({
  email: field(string, { bindFrom: 'e-mail' }),
  age: int,
  news: field(bool, { default: false }),
}) {}
const SIGNUP = 'e-mail=a&age=36';

it.each<[string, EndpointOptions, string, boolean]>([
  ['false', { allowFormData: false }, 'multipart', false],
  ['false', { allowFormData: false }, 'urlencoded', false],
  ['true', { allowFormData: true }, 'multipart', true],
  ['true', { allowFormData: true }, 'urlencoded', false],
  ['{ urlEncoded: true }', {}, 'multipart', true],
  ['{ urlEncoded: true }', {}, 'urlencoded', true],
])('allowFormData: %s, %j, a %s form is read: %s', async (_what, options, kind, isRead) => {
  const sent = kind === 'multipart' ? { multipart: SIGNUP } : { form: SIGNUP };
  expect(await outcome(Signup, sent, options)).toEqual(isRead ? { email: 'a', age: 36, news: false } : 415);
});

class Address extends dto({ street: string, zip: int }) {}
const HOME = { street: 'Ring 1', zip: 53111 };
const WORK = { street: 'Kai, 2', zip: 24103 };
class Profile extends dto({
  name: optional(string),
  news: optional(bool),
  sizes: optional(list(int)),
  home: optional(Address),
  all: optional(list(Address)),
}) {}

describe.each(kinds)('%s', (_kind, form) => {
  it.each<[string, string, object]>([
    ['scalar, one field per property', 'name=Ada, A.&news=true', { name: 'Ada, A.', news: true }],
    ['collection, a repeated field name', 'sizes=3&sizes=1&sizes=2', { sizes: [3, 1, 2] }],
    ['collection, a field name that occurs once', 'sizes=3', { sizes: [3] }],
    ['collection, an indexed name', 'sizes[2]=2&sizes[0]=3&sizes[1]=1', { sizes: [3, 1, 2] }],
    ['collection, a name with empty brackets', 'sizes[]=3&sizes[]=1&sizes[]=2', { sizes: [3, 1, 2] }],
    ['collection, one comma-separated value', 'sizes=3,1,2', { sizes: [3, 1, 2] }],
    ['JSON object, one field', `home=${JSON.stringify(HOME)}`, { home: HOME }],
    ['JSON array of scalars, one field', 'sizes=[3, 1, 2]', { sizes: [3, 1, 2] }],
    ['JSON array of objects, one field', `all=${JSON.stringify([HOME, WORK])}`, { all: [HOME, WORK] }],
  ])('is read: %s', async (_shape, text, value) => {
    const { dto: bound } = await bind(Profile, form(text), { allowFormData: { urlEncoded: true } });
    expect(bound).toEqual(value);
    expect([bound?.home, ...(bound?.all ?? [])].every(one => one === undefined || one instanceof Address)).toBe(true);
  });

  it('missing fields are reported in the form, under the name that is looked for', async () => {
    const expected = ['form e-mail: A value is required.', 'form age: A value is required.'];
    expect(await outcome(Signup, form('news=false'))).toEqual(expected);
  });

  it('text arrives as it was typed', async () => {
    const typed = 'é%+& =\n';
    const names = [['e-mail', typed], ['age', '1']] as const; // prettier-ignore
    const bound = (await outcome(Signup, _kind === 'multipart' ? { multipart: names } : { form: names })) as Signup;
    expect(bound.email.replace('\r\n', '\n')).toBe(typed);
  });
});

describe('a part of a form with the type application/json is JSON', () => {
  class Point extends dto({ x: int }) {}
  class Parts extends dto({
    text: optional(nullable(string)),
    whole: optional(int),
    strict: optional(string, { null: 'refuse' }),
    price: optional(decimal),
    at: optional(dateTime),
    point: optional(nullable(Point)),
    points: optional(list(Point)),
    tags: optional(list(nullable(string))),
    schema: optional(z.string().nullable()),
    file: optional(file),
  }) {}
  const send = async (Dto: AnyType, text: string, filename?: string): Promise<unknown> => {
    const named = filename === undefined ? {} : { filename };
    const parts = pairs(text).map(([name, value]) => ({ name, value, type: 'application/json', ...named }));
    const bound = await outcome(Dto, multipart(parts, 'b1'), { allowFormData: true });
    return JSON.parse(JSON.stringify(bound)) as unknown;
  };

  it.each<[string, unknown]>([
    ['text="Oslo"', { text: 'Oslo' }],
    ['text=null', { text: null }],
    ['whole=null', {}],
    ['whole= 7 ', { whole: 7 }],
    ['whole="7"', ['form whole: The value "7" is not a whole number from -2147483648 to 2147483647.']],
    ['strict=null', ['form strict: The value null is not a string.']],
    ['price=0.10000000000000000001', { price: '0.10000000000000000001' }],
    ['at="2026-11-21"', { at: '2026-11-21T00:00:00.000Z' }],
    ['point={"x":1}', { point: { x: 1 } }],
    ['point=null', { point: null }],
    ['point={"x":1}&point.x=2', { point: { x: 2 } }],
    ['points=[{"x":1}]', { points: [{ x: 1 }] }],
    ['points={"x":1}&points={"x":2}', { points: [{ x: 1 }, { x: 2 }] }],
    ['points={"x":1}', { points: [{ x: 1 }] }],
    ['tags="a,b"', { tags: ['a,b'] }],
    ['tags[1]=null&tags[0]="a"', { tags: ['a', null] }],
    ['schema="Oslo"', { schema: 'Oslo' }],
    ['schema=null', { schema: null }],
    ['text=Oslo', ['form text: The value "Oslo" is not a JSON text.']],
    ['text=', { text: '' }],
    ['file="x"', ['form file: A file is expected.']],
  ])('%s', async (text, expected) => {
    expect(await send(Parts, text)).toEqual(expected);
    const whole = await send(dto({ form: fromForm(Parts) }), text);
    expect(whole).toEqual(Array.isArray(expected) ? expected : { form: expected });
    // As generated clients send it, a Blob has a file name.
    if (!/Oslo$|=$|file/.test(text)) expect(await send(Parts, text, 'blob')).toEqual(expected);
  });

  const json = (value: unknown, type = 'application/json'): File => new File([JSON.stringify(value)], 'blob', { type });

  it('unless a file is declared, which it is then', async () => {
    class Order extends dto({ line: Point, more: list(Point), photo: file }) {}
    const LINE = { x: 2 };
    const sent = [
      ['line', json(LINE)],
      ['more', json([LINE, LINE], 'application/problem+json')],
      ['photo', json({ not: 'JSON here' })],
    ] as const;
    for (const Dto of [Order, dto({ order: fromForm(Order) })]) {
      const { dto: bound } = await bind<AnyType>(Dto, { multipart: sent }, { allowFormData: true });
      const order = (Dto === Order ? bound : Object.values(bound as object)[0]) as Order;
      expect(order).toMatchObject({ line: LINE, more: [LINE, LINE] });
      expect(order.photo.buffer.toString()).toBe('{"not":"JSON here"}');
    }
  });

  it.each<[string, File, BindingOptions['limits'], unknown]>([
    ['no JSON', new File(['{'], 'blob', { type: 'application/json' }), {}, [expect.stringContaining('line')]],
    ['no UTF-8', new File([Buffer.from([0xff])], 'blob', { type: 'application/json' }), {}, 400],
    ['of another type', new File(['{}'], 'blob', { type: 'text/plain' }), {}, [expect.stringContaining('line')]],
    ['over the limit of a field', json({ x: 1, note: 'x'.repeat(200) }), { fieldBytes: 100 }, 413],
    ['over the limit of all fields', json({ x: 1, note: 'x'.repeat(200) }), { bodyBytes: 100 }, 413],
  ])('refused: %s', async (_what, part, limits, expected) => {
    expect(await outcome(dto({ line: Point }), { multipart: [['line', part]] }, { limits: limits ?? {} })).toEqual(
      expected,
    );
  });

  it.each<[string, RequestHandler[]]>([
    ['before a form parser', []],
    ['behind multer', [multer().any()]],
  ])('two of one length are two requests to idempotency(): %s', async (_title, before) => {
    let runs = 0;
    const app = express().post('/', ...before, idempotency({ store: new Keyv() }), (_req, res) => {
      res.json(++runs);
    });
    const answers: unknown[] = [];
    for (const x of [1, 2, 1]) answers.push((await ask(app, { key: 'k', multipart: [['line', json({ x })]] })).body);
    expect(answers).toEqual([1, 2, 1]);
  });
});
