import Ajv from 'ajv/dist/2020';
import { z } from 'zod';
import { dto, enumOf, int, list, nullable, string, type AnyType } from '../../../lib';
import { operationOf, type Operation } from '../../support/described';

class Point extends dto({ x: int }) {}

/** Returns whether the description of the property `v` takes each value; undefined stands for none. */
function takenBy({ requestBody, schemas }: Operation & { schemas: object }, ...values: unknown[]): boolean[] {
  const schema = requestBody?.content['application/json']?.schema;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile({ ...schema, components: { schemas } });
  return values.map(v => validate(v === undefined ? {} : { v }));
}

it.each<[string, AnyType, value: unknown]>([
  ['text', string, 'a'],
  ['an enumeration', enumOf(['a', 'b']), 'b'],
  ['a list', list(int), [1]],
  ['a dto', Point, { x: 1 }],
  ['a literal of text', z.literal('a'), 'a'],
  ['a literal of a number', z.literal(1), 1],
  ['several literals', z.literal(['a', 'b']), 'b'],
  ['null', z.null(), null],
  ['a schema that takes null', z.string().nullable(), 'a'],
  ['an intersection', z.intersection(z.object({ x: z.number() }), z.object({ y: z.number() })), { x: 1, y: 2 }],
])('nullable(%s) is described with null and the value', async (_what, type, value) => {
  const operation = await operationOf(dto({ v: nullable(type) }));
  expect(takenBy(operation, value, null, undefined)).toEqual([true, true, false]);
});

it.each<[jsonSchema: Record<string, unknown>, value: unknown]>([
  [{ const: null }, null],
  [{ type: ['string', 'boolean'] }, 'a'],
  [{ type: ['string', 'null'], enum: ['a', null] }, 'a'],
  [{ type: 'string', enum: ['a', null] }, 'a'],
  [{ type: 'object', oneOf: [{ type: 'object' }] }, {}],
  [{ type: 'string', not: { type: 'null' } }, 'a'],
])('a schema that is described by %j is described with null and the value if it is nullable', async (...row) => {
  const [jsonSchema, value] = row;
  const type = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } } as const;
  const operation = await operationOf(dto({ v: nullable(type) }), { jsonSchemaOf: () => jsonSchema });
  expect(takenBy(operation, value, null, 5)).toEqual([true, true, false]);
});
