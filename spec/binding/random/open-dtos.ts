import BigNumber from 'bignumber.js';
import { z } from 'zod';
import {
  bool,
  dateTime,
  decimal,
  double,
  dto,
  enumOf,
  file,
  fromBody,
  fromCookie,
  fromForm,
  fromHeader,
  fromQuery,
  guid,
  hasPermission,
  int,
  lazy,
  list,
  long,
  nullable,
  optional,
  plainText,
  queryParam,
  routeParam,
  string,
  timeSpan,
  uri,
  Version,
  version,
  type AnyType,
  type DtoClass,
} from '../../../lib';
import { pairs } from '../../support/ask';

interface InnerShape {
  label: string | undefined;
  n: number | undefined;
  self: InnerShape | undefined;
  items: InnerShape[] | undefined;
  anything: unknown;
}
class Inner extends dto({
  label: optional(string),
  n: optional(int),
  self: optional(lazy((): DtoClass<InnerShape> => Inner)),
  items: optional(list(lazy((): DtoClass<InnerShape> => Inner))),
  anything: optional(z.object({ a: z.string().optional() })),
}) {}

const members = {
  label: optional(string),
  flag: optional(bool),
  n: optional(int),
  real: optional(double),
  at: optional(dateTime),
  span: optional(timeSpan),
  id: optional(guid),
  link: optional(uri),
  release: optional(version),
  colour: optional(enumOf(['red', 'blue'])),
  maybe: optional(nullable(int)),
  labels: optional(list(string)),
  sizes: optional(list(int)),
  matrix: optional(list(list(int))),
  inner: optional(Inner),
  items: optional(list(Inner)),
};
class Plain extends dto(members) {}
/** Its numbers are read with all their digits, by another parser of JSON. */
class Exact extends dto({
  ...members,
  big: optional(long),
  price: optional(decimal),
  prices: optional(list(decimal)),
}) {}
class OnRoute extends dto({
  ...members,
  id: routeParam(optional(string)),
  n: routeParam(optional(int)),
  page: queryParam(int, { default: 1 }),
}) {}
class Upload extends dto({
  title: optional(string),
  items: optional(list(Inner)),
  inner: optional(Inner),
  document: optional(file),
  pages: optional(list(file)),
}) {}
class WholeForm extends dto({ form: fromForm(Upload), query: fromQuery(Inner) }) {}
class WholeBody extends dto({ body: fromBody(Inner), n: optional(int) }) {}
class Text extends dto({ content: plainText(), label: optional(string), items: optional(list(Inner)) }) {}
class Heads extends dto({
  label: fromHeader(optional(string)),
  sizes: fromHeader(optional(list(int))),
  items: fromHeader(optional(list(Inner))),
  price: fromHeader(optional(decimal)),
  inner: fromCookie(optional(Inner)),
  labels: fromCookie(optional(list(string))),
  flag: hasPermission('all', { required: false }),
}) {}

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
const isSchemaObject = (value: unknown): boolean =>
  Object.entries(value ?? {}).every(([name, one]) => name === 'a' && (one === undefined || isText(one)));
const inner: Shape = {
  class: Inner,
  members: () => ({ label: isText, n: isInt, self: inner, items: { of: inner }, anything: isSchemaObject }),
};
const shapes: Readonly<Record<string, Shape>> = {
  label: isText,
  title: isText,
  content: isText,
  flag: value => typeof value === 'boolean',
  n: isInt,
  page: isInt,
  real: isNumber,
  at: value => value instanceof Date && !Number.isNaN(value.getTime()),
  span: isNumber,
  id: isText,
  link: value => value instanceof URL,
  release: value => value instanceof Version,
  colour: value => value === 'red' || value === 'blue',
  maybe: value => value === null || isInt(value),
  labels: { of: isText },
  sizes: { of: isInt },
  matrix: { of: { of: isInt } },
  inner,
  items: { of: inner },
  big: value => typeof value === 'bigint',
  price: isDecimal,
  prices: { of: isDecimal },
  document: isFile,
  pages: { of: isFile },
  body: inner,
  query: inner,
};
const own =
  (...names: string[]) =>
  (): Readonly<Record<string, Shape>> =>
    Object.fromEntries(names.map(name => [name, shapes[name] ?? (() => false)]));

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

const names = Object.keys(members);
/** Dtos that want nothing, so that much of what is malformed gets as far as them. */
export const endpoints: readonly [path: string, Dto: AnyType, shape: Shape][] = [
  ['/plain', Plain, { class: Plain, members: own(...names) }],
  ['/parsed', Plain, { class: Plain, members: own(...names) }],
  ['/exact', Exact, { class: Exact, members: own(...names, 'big', 'price', 'prices') }],
  ['/route/:n{/:id}', OnRoute, { class: OnRoute, members: own(...names, 'page') }],
  [
    '/form',
    WholeForm,
    {
      class: WholeForm,
      members: () => ({
        form: { class: Upload, members: own('title', 'items', 'inner', 'document', 'pages') },
        query: inner,
      }),
    },
  ],
  ['/body', WholeBody, { class: WholeBody, members: own('body', 'n') }],
  ['/list', list(Inner), { of: inner }],
  ['/text', Text, { class: Text, members: own('content', 'label', 'items') }],
  ['/heads', Heads, { class: Heads, members: own('label', 'sizes', 'items', 'price', 'inner', 'labels', 'flag') }],
];

/** What can be sent to them. */
export const declared = {
  endpoints: '/plain /parsed /exact /exact /route/* /route/1/* /form /body /list /text /heads'.split(' '),
  names: [...names, 'big', 'price', 'prices', 'title', 'document', 'pages', 'page', 'a', 'self', 'anything'],
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
