import BigNumber from 'bignumber.js';
import { z } from 'zod';
import { bool, dateTime, decimal, double, dto, enumOf, file, fromBody, fromCookie, fromForm } from '../../../lib';
import { fromHeader, fromQuery, guid, hasPermission, int, lazy, list, long, nullable, optional } from '../../../lib';
import { plainText, queryParam, routeParam, string, timeSpan, uri, Version, version } from '../../../lib';
import type { AnyType } from '../../../lib';
import { pairs } from '../../support/ask';

/** What may stand on a dto: its declared properties, each of its type, and nothing else. */
export type Shape =
  | ((value: unknown) => boolean)
  | { readonly of: Shape }
  | { readonly class: new () => object; readonly members: () => Readonly<Record<string, Shape>> };

const isText = (value: unknown): boolean => typeof value === 'string';
const isInt = (value: unknown): boolean => (Number(value) | 0) === value;
const isNumber = (value: unknown): boolean => Number.isFinite(value);
const isDecimal = (value: unknown): boolean => BigNumber.isBigNumber(value) && value.isFinite();
const isFile = (value: unknown): boolean => Buffer.isBuffer((value as { buffer?: unknown }).buffer);
const isDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const isSchemaObject = (value: unknown): boolean =>
  Object.entries(value ?? {}).every(([name, one]) => name === 'a' && (one === undefined || isText(one)));

/** Properties, none of which is required, each with its type and what may stand there. */
type Members = Readonly<Record<string, readonly [AnyType, Shape]>>;
const shapeOf = (members: Members): Readonly<Record<string, Shape>> =>
  Object.fromEntries(Object.entries(members).map(([name, [, shape]]) => [name, shape]));
const typesOf = (members: Members): Readonly<Record<string, AnyType>> =>
  Object.fromEntries(Object.entries(members).map(([name, [type]]) => [name, optional(type)]));

const innerMembers: Members = {
  ...{ label: [string, isText], n: [int, isInt], anything: [z.object({ a: z.string().optional() }), isSchemaObject] },
  self: [lazy((): AnyType => Inner), () => false],
  items: [list(lazy((): AnyType => Inner)), () => false],
};
class Inner extends dto(typesOf(innerMembers)) {}
const inner: Shape = {
  class: Inner,
  members: () => ({ ...shapeOf(innerMembers), self: inner, items: { of: inner } }),
};

const members: Members = {
  ...{ label: [string, isText], flag: [bool, value => typeof value === 'boolean'], n: [int, isInt] },
  ...{ real: [double, isNumber], at: [dateTime, isDate], span: [timeSpan, isNumber], id: [guid, isText] },
  link: [uri, value => value instanceof URL],
  release: [version, value => value instanceof Version],
  colour: [enumOf(['red', 'blue']), value => value === 'red' || value === 'blue'],
  maybe: [nullable(int), value => value === null || isInt(value)],
  ...{ labels: [list(string), { of: isText }], sizes: [list(int), { of: isInt }] },
  matrix: [list(list(int)), { of: { of: isInt } }],
  ...{ inner: [Inner, inner], items: [list(Inner), { of: inner }] },
};
/** Numbers that are read with all their digits, by another parser of JSON. */
const exact: Members = {
  ...members,
  big: [long, value => typeof value === 'bigint'],
  ...{ price: [decimal, isDecimal], prices: [list(decimal), { of: isDecimal }] },
};
const upload: Members = {
  ...{ title: [string, isText], items: [list(Inner), { of: inner }], inner: [Inner, inner] },
  ...{ document: [file, isFile], pages: [list(file), { of: isFile }] },
};
class Plain extends dto(typesOf(members)) {}
class Exact extends dto(typesOf(exact)) {}
class OnRoute extends dto({
  ...typesOf(members),
  ...{ id: routeParam(optional(string)), n: routeParam(optional(int)), page: queryParam(int, { default: 1 }) },
}) {}
class Upload extends dto(typesOf(upload)) {}
class WholeForm extends dto({ form: fromForm(Upload), query: fromQuery(Inner) }) {}
class WholeBody extends dto({ body: fromBody(Inner), n: optional(int) }) {}
class Text extends dto({ content: plainText(), label: optional(string), items: optional(list(Inner)) }) {}
class Heads extends dto({
  ...{ label: fromHeader(optional(string)), sizes: fromHeader(optional(list(int))) },
  ...{ items: fromHeader(optional(list(Inner))), price: fromHeader(optional(decimal)) },
  ...{ inner: fromCookie(optional(Inner)), labels: fromCookie(optional(list(string))) },
  flag: hasPermission('all', { required: false }),
}) {}

/** Where something stands that was never declared, or is not what was declared. */
export function undeclared(value: unknown, shape: Shape, path = 'dto'): string[] {
  if (value === undefined) return [];
  if (typeof shape === 'function') return shape(value) ? [] : [path];
  if ('of' in shape)
    return Array.isArray(value)
      ? Reflect.ownKeys(value).flatMap(key =>
          key === 'length' ? [] : undeclared(value[Number(key)], shape.of, `${path}[${String(key)}]`),
        )
      : [path];
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== shape.class.prototype)
    return [path];
  const declared = shape.members();
  return Reflect.ownKeys(value).flatMap(key => {
    const member = typeof key === 'string' && Object.hasOwn(declared, key) ? declared[key] : undefined;
    return member ? undeclared(Reflect.get(value, key), member, `${path}.${String(key)}`) : [`${path}.${String(key)}`];
  });
}

const { label, sizes, items, price, labels, flag } = shapeOf(exact);
const of = (Dto: new () => object, shape: Readonly<Record<string, Shape | undefined>>): Shape => ({
  class: Dto,
  members: () => shape as Readonly<Record<string, Shape>>,
});
/** Dtos that want nothing, so that much of what is malformed gets as far as them. */
export const endpoints: readonly [path: string, Dto: AnyType, shape: Shape][] = [
  ['/plain', Plain, of(Plain, shapeOf(members))],
  ['/parsed', Plain, of(Plain, shapeOf(members))],
  ['/exact', Exact, of(Exact, shapeOf(exact))],
  ['/route/:n{/:id}', OnRoute, of(OnRoute, { ...shapeOf(members), page: isInt })],
  ['/form', WholeForm, of(WholeForm, { form: of(Upload, shapeOf(upload)), query: inner })],
  ['/body', WholeBody, of(WholeBody, { body: inner, n: isInt })],
  ['/list', list(Inner), { of: inner }],
  ['/text', Text, of(Text, { content: isText, label, items })],
  ['/heads', Heads, of(Heads, { label, sizes, items, price, inner, labels, flag })],
];

/** What can be sent to them. */
export const declared = {
  endpoints: '/plain /parsed /exact /exact /route/* /route/1/* /form /body /list /text /heads'.split(' '),
  likelyPairs: pairs(
    'label=x&n=1&flag=true&at=2026-11-21&labels=a&sizes[1]=2&sizes=[1,2]&matrix[0]=[1]&inner={"label":"x"}&inner.label=x&' +
      'inner[self][n]=1&items[0].label=x&items[2][self].n=3&items={"n":1},{}&anything.a=x&title=x&price=1.50&' +
      '__proto__[polluted]=x&constructor.prototype.polluted=x&inner[__proto__].polluted=x&anything[__proto__][polluted]=x',
  ),
  likelyFields: [
    ...['"label":"x"', '"n":1', '"flag":true', '"real":1.5', '"id":null', '"maybe":null', '"labels":["a"]'],
    ...['"sizes":[1,2]', '"matrix":[[1],[]]', '"inner":{"self":{"n":1}}', '"items":[{"n":1},{"items":[{}]}]'],
    ...['"anything":{"a":"x"}', '"big":9007199254740993', '"price":1.50', '"__proto__":{"polluted":1}'],
    '"label":{"toString":1,"valueOf":{}}',
  ],
  headers: ['label', 'sizes', 'items', 'price', 'flag'],
  cookies: ['inner', 'labels', 'flag'],
};
