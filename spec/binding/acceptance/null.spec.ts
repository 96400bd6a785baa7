import {
  dto,
  field,
  fromBody,
  fromClaim,
  fromHeader,
  int,
  list,
  nullable,
  optional,
  string,
  type AnyType,
} from '../../../lib';
import { outcome } from '../../support/one-endpoint';

class Point extends dto({ x: int }) {}
const noInt = 'The value null is not a whole number from -2147483648 to 2147483647.';
const refusing = { null: 'refuse' } as const;

/** A property, and what it is if JSON has null for it, and if JSON has nothing: undefined if it has no key. */
it.each<[string, Parameters<typeof dto>[0][string], unknown, unknown]>([
  ['int', int, noInt, 'A value is required.'],
  ['required: false', field(int, { required: false }), undefined, undefined],
  ['with a default', field(int, { default: 5 }), 5, 5],
  ['optional', optional(int), undefined, undefined],
  ['nullable', nullable(int), null, 'A value is required.'],
  ['nullable, required: false', field(nullable(int), { required: false }), null, undefined],
  ['nullable with a default', field(nullable(int), { default: 5 }), null, 5],
  ['nullable(optional)', nullable(optional(int)), null, undefined],
  ['optional(nullable)', optional(nullable(int)), null, undefined],
  ['optional(…, { null: refuse })', optional(int, refusing), noInt, undefined],
  ['optional(list, { null: refuse })', optional(list(int), refusing), 'The value null is not a JSON array.', undefined],
  ['optional(nullable, { null: refuse })', optional(nullable(int), refusing), null, undefined],
])('null, and nothing, in JSON: %s', async (_what, v, ofNull, ofNothing) => {
  const value = (one: unknown, name: string): unknown =>
    typeof one === 'string' ? [`json ${name}: ${one}`] : one === undefined ? {} : { v: one };
  for (const [json, one] of [
    [{ v: null }, ofNull],
    [{}, ofNothing],
  ] as const) {
    const [root, nested] = [value(one, 'v'), value(one, 'in.v')];
    const bound = await outcome(dto({ v }), { json });
    expect([bound, Object.keys(bound as object)]).toEqual([root, Object.keys(root as object)]);
    expect(await outcome(dto({ in: dto({ v }) }), { json: { in: json } })).toEqual(
      Array.isArray(nested) ? nested : { in: nested },
    );
  }
});

it.each<[string, AnyType]>([
  ['the whole body', optional(list(int), refusing)],
  ['a property that takes it', dto({ ids: fromBody(optional(list(int), refusing)) })],
])('optional(…, { null: "refuse" }) refuses null for %s', async (_what, Dto) => {
  expect(await outcome(Dto, { json: 'null' })).toEqual([
    expect.stringContaining('The value null is not a JSON array.'),
  ]);
});

it('another option is an error', () => {
  expect(() => optional(int, { null: 'accept' as 'refuse' })).toThrow('optional: null must be "refuse"');
});

it('the text null is null for an object that may be null, in a query, a header, a claim and a form', async () => {
  class Sent extends dto({ v: optional(nullable(Point)), all: optional(list(nullable(Point))) }) {}
  class Heads extends dto({ v: fromHeader(nullable(Point)), c: fromClaim(nullable(Point), { name: 'v' }) }) {}
  const blob = (text: string): File => new File([text], 'blob', { type: 'application/json' });
  const bound = { v: null, all: [{ x: 1 }, null] };
  expect(await outcome(Sent, { path: '/?v=null&all={"x":1}&all=null' })).toEqual(bound);
  expect(await outcome(Sent, { form: 'v=null&all={"x":1}&all=null' })).toEqual(bound);
  const files = [['v', blob('null')], ['all', blob('{"x":1}')], ['all', blob('null')]] as const; // prettier-ignore
  expect(await outcome(Sent, { multipart: files })).toEqual(bound);
  expect(await outcome(Sent, { path: '/?all=null' })).toEqual({ all: [null] });
  expect(await outcome(Heads, { headers: { v: 'null' } }, { user: { v: 'null' } })).toEqual({ v: null, c: null });
  expect(await outcome(dto({ v: nullable(string) }), { path: '/?v=null' })).toEqual({ v: 'null' });
});
