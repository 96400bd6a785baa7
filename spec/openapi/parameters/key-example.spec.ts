import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import express from 'express';
import fc from 'fast-check';
import { z } from 'zod';
import {
  bindRequest,
  bool,
  decimal,
  double,
  dto,
  fromHeader,
  guid,
  idempotency,
  int,
  list,
  long,
  string,
  valueParserFor,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
  type PropertyType,
} from '../../../lib';
import { warned } from '../../../lib/warnings/warn-once';
import { documentOf, type Operation } from '../../support/described';

const ajv = addFormats(new Ajv({ strict: false })).addFormat('decimal', true);
const UUID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301';

let warn: jest.SpyInstance;
beforeEach(() => {
  warn = jest.spyOn(process, 'emitWarning').mockImplementation();
});
afterEach(() => {
  warn.mockRestore();
});

interface Described {
  readonly schema: Record<string, unknown>;
  readonly example?: unknown;
}

/** The schema of the key's header and its example, which is valid, in a document that JSON can hold. */
function headerOf(options: IdempotencyOptions, Dto?: AnyType, binding: BindingOptions = {}): Described {
  const app = express();
  app.post('/', idempotency(options), ...(Dto ? [bindRequest(Dto, binding)] : []));
  const { paths, components } = JSON.parse(JSON.stringify(documentOf(app))) as ReturnType<typeof documentOf>;
  const [header] = (paths['/']?.['post'] as Operation).parameters ?? [];
  const { content } = header as { readonly content?: Readonly<Record<string, Described>> };
  const described = content?.['application/json'] ?? (header as unknown as Described);
  if ('example' in described) {
    const validate = ajv.compile({ ...described.schema, components });
    validate(described.example);
    expect(validate.errors).toBeNull();
  }
  return described;
}

const shownAs = (example: unknown, more: IdempotencyOptions = {}): Described => {
  const { schema, ...rest } = headerOf({ ...more, swaggerExampleGenerator: () => example });
  return { schema, ...('example' in rest && { example: rest.example }) };
};

describe('without a type, the schema of the key has the shape of its example', () => {
  it.each<[unknown, schema: object, shown: unknown]>([
    [true, { type: 'boolean' }, true],
    [42, { type: 'integer', format: 'int32' }, 42],
    [-2147483648, { type: 'integer', format: 'int32' }, -2147483648],
    [2147483648, { type: 'integer', format: 'int64' }, 2147483648],
    [30000000000, { type: 'integer', format: 'int64' }, 30000000000],
    [1.5, { type: 'number', format: 'double' }, 1.5],
    [2 ** 63, { type: 'number', format: 'double' }, 2 ** 63],
    [5n, { type: 'integer', format: 'int32' }, 5],
    [30000000000n, { type: 'integer', format: 'int64' }, 30000000000],
    [
      9223372036854775807n,
      { type: ['string', 'integer'], format: 'int64', pattern: '^[+-]?[0-9]{1,19}$' },
      '9223372036854775807',
    ],
    [9223372036854775808n, { type: 'string', minLength: 1 }, '9223372036854775808'],
    ['abc', { type: 'string', minLength: 1 }, 'abc'],
    [UUID, { type: 'string', format: 'uuid' }, UUID],
    [new Date(0), { type: 'string', format: 'date-time' }, '1970-01-01T00:00:00.000Z'],
    [new URL('http://a.example'), { type: 'string', minLength: 1 }, 'http://a.example/'],
    [[1], { type: 'array', items: { type: 'integer', format: 'int32' } }, [1]],
    [
      [1, 'a', 2],
      { type: 'array', items: { anyOf: [{ type: 'integer', format: 'int32' }, { type: 'string' }] } },
      [1, 'a', 2],
    ],
    [[], { type: 'array', items: {} }, []],
    [
      { a: 1, b: { c: null, d: 2n ** 60n } },
      {
        type: 'object',
        properties: {
          a: { type: 'integer', format: 'int32' },
          b: { type: 'object', properties: { c: { type: 'null' }, d: { type: 'string' } }, required: ['c', 'd'] },
        },
        required: ['a', 'b'],
      },
      { a: 1, b: { c: null, d: '1152921504606846976' } },
    ],
  ])('%p', (made, schema, example) => {
    expect(shownAs(made)).toEqual({ schema, example });
  });

  it.each([undefined, null])('and there is none for %p', made => {
    expect(shownAs(made)).toEqual({ schema: { type: 'string', minLength: 1 } });
  });

  it('whatever it is', () => {
    const anything = fc.anything({ withDate: true, withBigInt: true, withNullPrototype: true, withSparseArray: true });
    fc.assert(
      fc.property(anything, made => {
        try {
          shownAs(made);
        } catch (error) {
          expect(String(error)).toMatch(/^TypeError: openapi: POST \/: swaggerExampleGenerator returned /);
        }
      }),
    );
  });
});

describe('the example has the form that the type of the key describes', () => {
  class Money {
    static tryParse = (text: string | undefined) =>
      text?.endsWith('€') ? ({ success: true, value: new Money() } as const) : ({ success: false } as const);
  }

  it.each<[string, PropertyType, made: unknown, shown: unknown]>([
    ['a number as text', string, 42, '42'],
    ['an object as text', string, { a: 1 }, '{"a":1}'],
    ['text as a number', int, '42', 42],
    ['text as true', bool, 'true', true],
    ['a whole number as a double', double, 5, 5],
    ['a bigint as text', long, 2n ** 62n, String(2n ** 62n)],
    ['text as a decimal', decimal, '12.50', '12.50'],
    ['a UUID', guid, UUID, UUID],
    ['a list', list(int), [1, 2], [1, 2]],
    ['text for a class', Money, '5€', '5€'],
    ['a dto', dto({ a: int }), { a: 1 }, { a: 1 }],
    ['a schema', z.enum(['a', 'b']), 'b', 'b'],
    ['a schema that takes its time', z.string().refine(async () => Promise.resolve(true)), 'b', 'b'],
  ])('%s', (_what, swaggerHeaderType, made, example) => {
    expect(shownAs(made, { swaggerHeaderType })).toMatchObject({ example });
  });

  it.each<[string, IdempotencyOptions, made: unknown]>([
    ['its type does not read', { swaggerHeaderType: guid }, 'abc'],
    ['its type has no such number', { swaggerHeaderType: int }, 30000000000],
    ['its schema does not allow', { swaggerHeaderType: z.enum(['a', 'b']) }, 'c'],
    ['its pattern refuses', { keyPattern: /^order-/g }, 'abc'],
    ['its pattern refuses as text', { keyPattern: /^\d{3}$/ }, 42],
    ['is blank', {}, ' '],
  ])('one that %s is left out', (_why, options, made) => {
    expect(shownAs(made, options)).not.toHaveProperty('example');
  });

  it('one that is left out is named in a process warning', () => {
    warned.clear();
    headerOf({ swaggerHeaderType: guid, swaggerExampleGenerator: () => 'abc' });
    const message =
      'openapi: the example "abc" of the header Idempotency-Key is left out, because it is not a value of the type of ' +
      'the header. Let swaggerExampleGenerator make another.';
    expect(warn.mock.calls).toEqual([[message, { code: 'BINDONCE_KEY_EXAMPLE' }]]);
  });

  it.each<[string, AnyType, made: unknown, shown: object, BindingOptions]>([
    ['is valid there', guid, UUID, { example: UUID }, {}],
    ['has the form of the property', string, 42, { schema: { type: 'string' }, example: '42' }, {}],
    ['is JSON', list(dto({ a: int })), [{ a: 1 }], { example: [{ a: 1 }] }, {}],
    ['is a list of one text', list(string), 'abc', { example: ['abc'] }, {}],
    ['is a list with commas', list(int), '1, 2', { example: [1, 2] }, {}],
    ['is a list of texts of digits', list(string), '1,2', { example: ['1', '2'] }, {}],
    [
      'is text to a value parser',
      int,
      'five',
      { schema: { type: 'string' }, example: 'five' },
      {
        valueParsers: [
          valueParserFor(int, text => (text === 'five' ? { success: true, value: 5 } : { success: false })),
        ],
      },
    ],
  ])('if a dto has the header, too, the example %s', (_what, type, made, shown, binding) => {
    const Dto = dto({ key: fromHeader(type, { name: 'idempotency-key' }) });
    expect(headerOf({ swaggerExampleGenerator: () => made }, Dto, binding)).toMatchObject(shown);
    expect(headerOf({ swaggerExampleGenerator: () => made, keyPattern: /./ }, Dto, binding)).toMatchObject({
      example: (shown as { example: unknown }).example,
    });
  });

  it('one that the property of a dto does not read is left out', () => {
    const Dto = dto({ key: fromHeader(guid, { name: 'Idempotency-Key' }) });
    expect(headerOf({ swaggerExampleGenerator: () => 'abc' }, Dto)).not.toHaveProperty('example');
  });
});

describe('a generator that makes no example is named in the error', () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new RangeError('no more keys');
      },
      'swaggerExampleGenerator threw: no more keys',
    ],
    [
      'throws text',
      () => {
        throw 'no more keys';
      },
      'swaggerExampleGenerator threw: no more keys',
    ],
    ['is asynchronous', async () => Promise.resolve('abc'), 'swaggerExampleGenerator returned a promise, and the'],
    [
      'is rejected',
      async () => Promise.reject(new Error('late')),
      'swaggerExampleGenerator returned a promise, and the',
    ],
    ['returns a function', () => () => 'abc', 'an example of a header: JSON has no form for a function. Return text'],
    ['returns a symbol', () => Symbol('abc'), 'an example of a header: JSON has no form for a symbol. Return text'],
    ['returns NaN', () => NaN, 'an example of a header: JSON has no form for NaN. Return text'],
    ['returns an invalid Date', () => new Date(NaN), 'an example of a header: JSON has no form for an invalid Date.'],
    ['returns a cycle', () => cyclic, 'an example of a header: it cannot be written as JSON (Converting circular'],
  ])('%s', (_what, swaggerExampleGenerator, message) => {
    expect(() => headerOf({ swaggerExampleGenerator })).toThrow(TypeError);
    expect(() => headerOf({ swaggerExampleGenerator })).toThrow(/^openapi: POST \/: swaggerExampleGenerator /);
    expect(() => headerOf({ swaggerExampleGenerator })).toThrow(message);
  });

  it('with the error as the cause', () => {
    const cause = new Error('no more keys');
    const swaggerExampleGenerator = (): never => {
      throw cause;
    };
    expect(() => headerOf({ swaggerExampleGenerator })).toThrow(expect.objectContaining({ cause }));
  });
});
