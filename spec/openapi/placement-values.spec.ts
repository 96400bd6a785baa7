import { z } from 'zod';
import {
  dto,
  field,
  file,
  formField,
  fromHeader,
  fromQuery,
  int,
  list,
  optional,
  queryParam,
  string,
  type AnyType,
  type ParseResult,
} from '../../lib';
import { operationOf } from '../support/described';
import { bind } from '../support/one-endpoint';

class Line extends dto({ sku: string }) {}
const allowFormData = { urlEncoded: true } as const;

/** Returns the description of the value `v`. */
async function described(Dto: AnyType): Promise<unknown> {
  const { parameters = [], requestBody } = await operationOf(Dto, { options: { allowFormData } });
  const content = Object.values(requestBody?.content ?? {}) as { schema: { properties: Record<string, unknown> } }[];
  return parameters[0]?.schema ?? parameters[0]?.content ?? content[0]?.schema.properties['v'];
}

it.each<[string, AnyType, number]>([
  ['a query', dto({ v: queryParam(list(string)) }), 1],
  ['a form', dto({ v: formField(list(int)) }), 1],
  ['files', dto({ v: list(file) }), 1],
  ['a schema', dto({ v: queryParam(z.array(z.string())) }), 1],
  ['a schema with a bound of its own', dto({ v: queryParam(z.array(z.string()).min(2)) }), 2],
])('a required list of %s has at least one item, because none is sent as nothing', async (_what, Dto, minItems) => {
  expect(await described(Dto)).toMatchObject({ type: 'array', minItems });
  expect((await bind(Dto, { form: '' }, { allowFormData })).status).toBe(400);
});

it.each<[string, AnyType]>([
  ['that is JSON', dto({ v: field(list(string)) })],
  ['that may be missing', dto({ v: queryParam(optional(list(string))) })],
  ['that has a default', dto({ v: queryParam(list(string), { default: [] }) })],
  ['of objects, whose JSON can be empty', dto({ v: queryParam(list(Line)) })],
  ['of a schema with a default', dto({ v: queryParam(z.array(z.string()).default([])) })],
  ['below fromQuery', dto({ all: fromQuery(dto({ v: list(string) })) })],
])('a list %s can be empty', async (_what, Dto) => {
  expect(JSON.stringify(await described(Dto))).not.toContain('minItems');
});

describe('a class with tryParse and declared properties is described as text outside of JSON', () => {
  class Price extends dto({ amount: int }) {
    static tryParse(text: string | undefined): ParseResult<Price> {
      return text === '7' ? { success: true, value: Object.assign(new Price(), { amount: 7 }) } : { success: false };
    }
  }
  const price = Object.assign(new Price(), { amount: 7 });
  const text = { type: 'string', title: 'Price' };

  it.each<[string, AnyType, object]>([
    ['a query', dto({ v: queryParam(Price) }), text],
    ['a query, with a default, which is no text', dto({ v: queryParam(Price, { default: () => price }) }), text],
    ['a header', dto({ v: fromHeader(Price) }), text],
    ['a form', dto({ v: formField(Price) }), text],
    ['a list', dto({ v: queryParam(optional(list(Price))) }), { type: 'array', items: text, maxItems: 10_000 }],
    ['below fromQuery', dto({ all: fromQuery(dto({ v: Price })) }), text],
  ])('in %s', async (_where, Dto, schema) => {
    expect(await described(Dto)).toEqual(schema);
  });
});
