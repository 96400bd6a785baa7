import express from 'express';
import { bindRequest, bool, date, dateTime, decimal, double, dto, enumOf, field, file, fromHeader } from '../../../lib';
import { guid, int, list, long, nullable, optional, queryParam, routeParam, string, time } from '../../../lib';
import type { AnyType } from '../../../lib';
import { documentOf } from '../../support/described';
import type { Sent } from '../../support/ask';
import { bind, failures, outcome, urlEncoded } from '../../support/one-endpoint';

/** Returns the property `v` of the dto as JSON, or the failures. */
async function bound(type: AnyType, sent: Sent): Promise<unknown> {
  const { dto: read, errors } = await bind<AnyType>(dto({ v: type }), sent, urlEncoded);
  if (errors.length > 0) return errors.map(({ detail }) => detail);
  const { v } = read as { v: unknown };
  return typeof v === 'bigint' ? String(v) : JSON.parse(JSON.stringify(v ?? null));
}

describe('a rule, on both sides of its limit', () => {
  it.each<[string, AnyType, unknown, unknown]>([
    ['The value 0 must be at least 1.', int.with({ minimum: 1 }), 1, 0],
    ['The value 10 must be at most 9.', int.with({ maximum: 9 }), 9, 10],
    ['The value 0 must be at least 1.', long.with({ minimum: 1 }), '1', '0'],
    ['The value 0 must be above 0.', double.with({ exclusiveMinimum: 0 }), 0.1, 0],
    ['The value 1 must be below 1.', double.with({ exclusiveMaximum: 1 }), 0.9, 1],
    ['The value 0.35 must be a multiple of 0.1.', double.with({ multipleOf: 0.1 }), 0.3, 0.35],
    [
      'The value 9007199254740994 must be at most 9007199254740993.',
      long.with({ maximum: 9007199254740993n }),
      '9007199254740993',
      '9007199254740994',
    ],
    [
      'The value 0.1000000000000000056 must be at most 0.1000000000000000055.',
      decimal.with({ maximum: '0.1000000000000000055' }),
      '0.1000000000000000055',
      '0.1000000000000000056',
    ],
    ['The value "😀" must have at least 2 characters.', string.with({ minLength: 2 }), '😀😀', '😀'],
    ['The value "ab" must have at most 1 character.', string.with({ maxLength: 1 }), '😀', 'ab'],
    ['The value "eur" must match /[A-Z]{3}/.', string.with({ pattern: /[A-Z]{3}/ }), 'xEURx', 'eur'],
    ['The value "ä" must match /^\\p{Lu}$/.', string.with({ pattern: '^\\p{Lu}$' }), 'Ä', 'ä'],
    ['The value "a@" must be an e-mail address.', string.with({ format: 'email' }), 'a@b.example', 'a@'],
    ['The value "a_b" must be a host name.', string.with({ format: 'hostname' }), 'a-b.example', 'a_b'],
    ['The value "192.0.2" must be an IPv4 address.', string.with({ format: 'ipv4' }), '192.0.2.1', '192.0.2'],
    ['The value "192.0.2.1" must be an IPv6 address.', string.with({ format: 'ipv6' }), '2001:db8::1', '192.0.2.1'],
    ['The list must have at least 1 item.', list(int).with({ minItems: 1 }), [1], []],
    ['The list must have at most 2 items.', list(int, { maxItems: 2 }), [1, 2], [1, 2, 3]],
    ['The list must have no two equal items.', list(decimal, { uniqueItems: true }), ['1', '2'], ['2', '2']],
    [
      'The value "2025-12-31T23:59:59.999Z" must not be before 2026-01-01.',
      dateTime.with({ minimum: '2026-01-01' }),
      '2026-01-01T00:00:00.000Z',
      '2025-12-31T23:59:59.999Z',
    ],
    [
      'The value "1970-01-02" must not be after 1970-01-01T00:00:00.000Z.',
      date.with({ maximum: new Date(0) }),
      '1970-01-01',
      '1970-01-02',
    ],
    [
      'begins with 3',
      guid.with({ check: id => id.startsWith('3') || 'begins with 3' }),
      '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      '4f2504e0-4f89-11d3-9a0c-0305e82c3301',
    ],
    ['not b', enumOf(['a', 'b']).with({ check: one => Promise.resolve(one === 'a' || 'not b') }), 'a', 'b'],
    ['The value 0 must be at least 1.', nullable(int.with({ minimum: 1 })), 1, 0],
    ['The value 0 must be at least 1.', list(int.with({ minimum: 1 })), [1], [0]],
    [
      'The list must have at least 2 items.',
      list(string.with({ check: () => Promise.resolve(true) }), { minItems: 2 }),
      ['a', 'b'],
      ['a'],
    ],
  ])('%s', async (failure, type, kept, broken) => {
    expect(await bound(type, { json: { v: kept } })).toEqual(kept);
    expect(await bound(type, { json: { v: broken } })).toEqual([failure]);
  });
});

describe('a rule holds in every source:', () => {
  class Everywhere extends dto({
    id: routeParam(int.with({ maximum: 5 })),
    page: queryParam(int.with({ minimum: 1 })),
    tags: queryParam(list(string.with({ maxLength: 2 }), { maxItems: 2 })),
    tenant: fromHeader(string.with({ pattern: '^[a-z]+$' }), { name: 'X-Tenant' }),
    lines: field(list(class Line extends dto({ quantity: int.with({ minimum: 1 }) }) {}, { minItems: 1 })),
  }) {}
  const names = (sent: Sent): Promise<string[]> => failures(Everywhere, sent, { route: '/:id' });

  it('all failures are in one answer', async () => {
    const sent: Sent = { path: '/6?page=0&tags=abc,d,e', headers: { 'X-Tenant': '1' } };
    const others = ['route id', 'query page', 'query tags', 'query tags[0]', 'header X-Tenant'];
    expect(await names({ ...sent, json: { lines: [{ quantity: 0 }] } })).toEqual(
      ['json lines[0].quantity', ...others].sort(),
    );
    expect(await names({ ...sent, multipart: 'lines=[{"quantity":0}]' })).toEqual(
      ['form lines[0].quantity', ...others].sort(),
    );
    expect(await names({ ...sent, multipart: 'lines=[]' })).toEqual(['form lines', ...others].sort());
  });
});

it('the value of a credential is not repeated', async () => {
  class Dto extends dto({ key: fromHeader(string.with({ minLength: 9 }), { name: 'X-Api-Key' }) }) {}
  expect(await outcome(Dto, { headers: { 'X-Api-Key': 'secret' } })).toEqual([
    'header X-Api-Key: The value must have at least 9 characters.',
  ]);
});

it('a check that throws, or answers something else, is an error of the application', async () => {
  for (const check of [
    () => {
      throw new Error('down');
    },
    () => Promise.reject(new Error('down')),
    () => false as never,
  ]) {
    expect(await outcome(dto({ v: int.with({ check }) }), { json: { v: 1 } })).toBe(500);
  }
});

it('a check is not asked about a value that breaks another rule, and is asked once', async () => {
  const asked: number[] = [];
  const type = int.with({ minimum: 1, check: value => asked.push(value) > 0 || 'never' });
  await bound(type, { json: { v: 0 } });
  await bound(type, { json: { v: 2 } });
  expect(asked).toEqual([2]);
});

const trimmed = string.with({ trim: true, maxLength: 2 });
const checkbox = bool.with({ checkbox: true });
const NO_BOOL = ['The value "maybe" is not true or false.'];

it.each<[string, AnyType, Sent, unknown]>([
  ['a text is trimmed before everything else, in JSON', trimmed, { json: { v: ' ab ' } }, 'ab'],
  ['in a query', trimmed, { path: '/?v=+ab+' }, 'ab'],
  ['in a form', trimmed, { form: 'v= ab ' }, 'ab'],
  ['a checkbox that is checked is true', checkbox, { form: 'v=on' }, true],
  ['one that is not checked is false', checkbox, { form: 'other=1' }, false],
  ['beside a hidden field it is true when one of them is', checkbox, { form: 'v=false&v=on' }, true],
  ['and false otherwise', checkbox, { form: 'v=false' }, false],
  ['in JSON it is true or false', checkbox, { json: { v: true } }, true],
  ['it takes no other text', checkbox, { form: 'v=maybe' }, NO_BOOL],
])('%s', async (_what, type, sent, expected) => {
  expect(await bound(type, sent)).toEqual(expected);
});

describe('a date and a time', () => {
  it.each<[AnyType, string, string | undefined]>([
    [date, '2026-11-28', '2026-11-28'],
    [date, ' 2024-02-29 ', '2024-02-29'],
    [date, '2026-02-29', undefined],
    [date, '2026-11-28T00:00:00Z', undefined],
    [date, '26-11-28', undefined],
    [time, '08:30', '08:30'],
    [time, '23:59:59', '23:59:59'],
    [time, '24:00', undefined],
    [time, '8:30', undefined],
    [time, '08:30:60', undefined],
  ])('%# %s', async (type, text, value) => {
    const expected = value ?? [expect.stringContaining(`The value ${JSON.stringify(text)} is not a `)];
    expect(await bound(type, { json: { v: text } })).toEqual(expected);
    expect(await bound(type, { path: `/?v=${encodeURIComponent(text)}` })).toEqual(expected);
  });
});

it.each<[string, readonly (readonly [name: string, bytes: string, type: string])[], readonly string[]]>([
  ['keep their rules', [['photo', 'abc', 'image/PNG'], ['others', 'a', 'application/pdf']], []], // prettier-ignore
  [
    'do not',
    [['photo', 'abcd', 'text/html'], ['others', 'a', 'image/png'], ['others', 'a', 'image/png']], // prettier-ignore
    [
      'form photo: The file must have at most 3 bytes.',
      'form photo: The file must be of the media type image/* or application/pdf.',
      'form others: The list must have at most 1 item.',
    ],
  ],
])('files that %s', async (_what, files, expected) => {
  const photo = file.with({ maxBytes: 3, mediaTypes: ['image/*', 'application/pdf'] });
  class Upload extends dto({ photo, others: optional(list(photo, { maxItems: 1 })) }) {}
  const multipart = files.map(([name, bytes, type]) => [name, new File([bytes], 'a', { type })] as const);
  const came = await outcome(Upload, { multipart });
  expect(Array.isArray(came) ? came : []).toEqual(expected);
});

it('rules add up: of one limit the later counts, and checks are asked one after the other', async () => {
  const type = int
    .with({ minimum: 5, check: value => value !== 7 || 'not 7' })
    .with({ minimum: 1, check: value => value !== 8 || 'not 8' });
  expect(await bound(type, { json: { v: 1 } })).toBe(1);
  expect(await bound(type, { json: { v: 7 } })).toEqual(['not 7']);
  expect(await bound(type, { json: { v: 8 } })).toEqual(['not 8']);
});

it('rules stand in the API description', () => {
  class Described extends dto({
    quantity: int.with({ minimum: 1, maximum: 99 }),
    price: decimal.with({ exclusiveMinimum: 0 }),
    code: string.with({ minLength: 1, maxLength: 9, pattern: /^[A-Z]+$/ }),
    mail: string.with({ format: 'email' }),
    tags: list(string, { minItems: 1, maxItems: 3, uniqueItems: true }),
    from: date.with({ minimum: '2026-01-01', maximum: '2026-12-31' }),
    at: time,
    gift: bool.with({ checkbox: true }),
  }) {}
  const app = express().post('/', bindRequest(Described));
  const { schemas } = documentOf(app)['components'] as {
    schemas: Record<string, { properties: object; required: string[] }>;
  };
  const { properties, required } = schemas['Described'] ?? {};
  expect(properties).toMatchObject({
    quantity: { type: 'integer', minimum: 1, maximum: 99 },
    price: { exclusiveMinimum: 0 },
    code: { minLength: 1, maxLength: 9, pattern: '^[A-Z]+$' },
    mail: { type: 'string', format: 'email' },
    tags: { minItems: 1, maxItems: 3, uniqueItems: true },
    from: { format: 'date', description: 'Not before 2026-01-01. Not after 2026-12-31.' },
    at: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$' },
    gift: { type: 'boolean' },
  });
  expect(required).toEqual(['quantity', 'price', 'code', 'mail', 'tags', 'from', 'at']);
});
