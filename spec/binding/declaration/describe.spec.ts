import { randomUUID } from 'node:crypto';
import { dateTime, dto, field, fromForm, int, list, nullable, queryParam, string, type AnyType } from '../../../lib';
import { operationOf } from '../../support/described';

/** The defaults of the properties of a body, as the document has them. */
async function defaultsOf(Dto: AnyType, mediaType = 'application/json'): Promise<Record<string, unknown>> {
  const { requestBody, schemas } = await operationOf(Dto, { options: { allowFormData: true } });
  const schema = requestBody?.content[mediaType]?.schema as { $ref?: string };
  const named = schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const { properties } = named as { properties: Record<string, object> };
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) => ('default' in one ? [[name, one.default]] : [])),
  );
}

describe('the default that the document states', () => {
  it('is the value of an initialiser, unless each instance has another one', async () => {
    class Order {
      @field(string) id: string = randomUUID();
      @field(dateTime) at = new Date();
      @field(int) quantity = 5;
      @field(list(string)) tags = ['a'];
      @field(dateTime, { default: new Date(0) }) from!: Date;
    }
    class Made extends dto({ until: field(dateTime, { default: new Date(0) }), by: string }) {
      override by = randomUUID();
    }
    expect(await defaultsOf(Order)).toEqual({ quantity: 5, tags: ['a'], from: '1970-01-01T00:00:00.000Z' });
    expect(await defaultsOf(Made)).toEqual({ until: '1970-01-01T00:00:00.000Z' });
  });

  it('is null where an initialiser is null, although the declaration has a default', async () => {
    class Both {
      @field(nullable(int), { default: 5 }) a: number | null = null;
    }
    expect(await defaultsOf(Both)).toEqual({ a: null });
  });

  it('is not null where values are text', async () => {
    class Filter extends dto({ a: field(nullable(int), { default: null }), b: field(nullable(int), { default: 1 }) }) {}
    expect(await defaultsOf(Filter)).toEqual({ a: null, b: 1 });
    expect(await defaultsOf(Filter, 'multipart/form-data')).toEqual({ b: 1 });
    expect(await defaultsOf(dto({ all: fromForm(Filter) }), 'multipart/form-data')).toEqual({ b: 1 });
    const { parameters } = await operationOf(dto({ q: queryParam(nullable(int), { default: null }) }));
    expect(parameters).toMatchObject([{ name: 'q', schema: { type: 'integer' } }]);
    expect(parameters?.[0]?.schema).not.toHaveProperty('default');
  });
});
