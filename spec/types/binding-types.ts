import { type } from 'arktype';
import type BigNumber from 'bignumber.js';
import type { Request } from 'express';
import * as v from 'valibot';
import { z } from 'zod';
import { bindRequest, configure, decimal, dto, field, fromBody, fromForm, fromHeader, fromQuery } from '../../lib';
import { guid, int, lazy, list, long, nullable, optional, queryParam, queryValue, routeValue } from '../../lib';
import { serializerContext, string, valueParserFor } from '../../lib';
import type { BindHandler, BindingOptions, DtoClass, Infer } from '../../lib';
import { holds, type Equal } from './equal';

/** A Standard Schema is a type like any other: its values are what it makes of them. */
export const schemas = {
  zod: z.object({ sku: z.string(), quantity: z.coerce.number(), tags: z.array(z.string()).default([]) }),
  valibot: v.object({
    sku: v.string(),
    quantity: v.pipe(v.string(), v.transform(Number)),
    note: v.optional(v.string()),
  }),
  arktype: type({ sku: 'string', quantity: 'string.integer.parse' }),
  enumeration: z.enum(['a', 'b']),
  maybe: z.string().optional(),
  initial: z.string().default('x'),
  none: v.nullable(v.number()),
  length: z.string().transform(text => text.length),
  later: v.pipeAsync(
    v.string(),
    v.checkAsync(async text => (await Promise.resolve(text)) !== ''),
  ),
  range: type('1 <= number <= 5'),
};
type Schemas = { [K in keyof typeof schemas]: Infer<(typeof schemas)[K]> };
holds<Equal<Schemas['zod'], { sku: string; quantity: number; tags: string[] }>>();
holds<Equal<Schemas['valibot'], { sku: string; quantity: number; note?: string | undefined }>>();
holds<Equal<Schemas['arktype'], { sku: string; quantity: number }>>();
holds<Equal<Schemas['enumeration'], 'a' | 'b'>>();
holds<Equal<Schemas['maybe'], string | undefined>>();
holds<Equal<Schemas['initial'], string>>();
holds<Equal<Schemas['none'], number | null>>();
holds<Equal<Schemas['length'], number>>();
holds<Equal<Schemas['later'], string>>();
holds<Equal<Schemas['range'], number>>();

/** As the whole dto. */
export const whole = {
  zod: bindRequest(schemas.zod),
  valibot: bindRequest(schemas.valibot),
  arktype: bindRequest(schemas.arktype),
  items: bindRequest(list(schemas.length)),
};
holds<Equal<typeof whole.zod, BindHandler<{ sku: string; quantity: number; tags: string[] }>>>();
holds<Equal<typeof whole.valibot, BindHandler<{ sku: string; quantity: number; note?: string | undefined }>>>();
holds<Equal<typeof whole.arktype, BindHandler<{ sku: string; quantity: number }>>>();
holds<Equal<typeof whole.items, BindHandler<number[]>>>();

/** A type that refers to itself: decorators need no help; dto({...}) needs the shape written down, once. */
export interface TreeShape {
  name: string;
  weight: BigNumber;
  children: TreeShape[];
  parent: TreeShape | undefined;
}
export class Tree extends dto({
  name: string,
  weight: decimal,
  children: list(lazy((): DtoClass<TreeShape> => Tree)),
  parent: optional(lazy((): DtoClass<TreeShape> => Tree)),
}) {}
holds<Equal<Tree['children'], TreeShape[]>>();
holds<Equal<Tree['parent'], TreeShape | undefined>>();
holds<Equal<Tree extends TreeShape ? true : false, true>>();
interface MissingShape {
  name: string;
  children: unknown[];
}
export class Missing extends dto({
  // @ts-expect-error -- the shape has a property that the class does not declare
  children: list(lazy((): DtoClass<MissingShape> => Missing)),
}) {}

export class Node {
  @field(string) name!: string;
  @field(list(lazy(() => Node))) children!: Node[];
  @field(optional(lazy(() => Node))) next: Node | undefined;
  @field(nullable(lazy(() => Leaf))) leaf!: Leaf | null;
}
export class Leaf {
  @field(lazy(() => Node)) node!: Node;
  // @ts-expect-error -- a list of nodes is no node
  @field(list(lazy(() => Node))) nodes!: Node;
  // @ts-expect-error -- a leaf is no node
  @field(optional(lazy(() => Leaf))) next: Node | undefined;
}
holds<Equal<Infer<typeof Node>['children'], Node[]>>();

/** The declared type of a field is compared with what its schema, its query or its form makes. */
class Page extends dto({ size: int, filter: optional(string) }) {}
export class Fitting {
  @field(schemas.enumeration) letter!: 'a' | 'b';
  @field(schemas.enumeration) anyText!: string;
  @field(schemas.length) length!: number;
  @field(schemas.maybe) maybe: string | undefined;
  @field(schemas.none) none!: number | null;
  @field(schemas.later) later!: string;
  @field(list(schemas.arktype)) items!: { sku: string; quantity: number }[];
  @field(list(schemas.arktype)) fewer!: readonly { readonly sku: string }[];
  @fromQuery(Page) page!: Page;
  @fromForm(schemas.zod) form!: { sku: string; quantity: number; tags: string[] };
  @fromHeader(schemas.range, { required: false }) header?: number | undefined;
  @queryParam(schemas.range, { default: 1 }) initial!: number;
}
export class Wrong {
  // @ts-expect-error -- an enumeration has more members
  @field(schemas.enumeration) letter!: 'a';
  // @ts-expect-error -- what a schema makes of text is the value
  @field(schemas.length) length!: string;
  // @ts-expect-error -- an optional schema may be undefined
  @field(schemas.maybe) maybe!: string;
  // @ts-expect-error -- a nullable schema may be null
  @field(schemas.none) none!: number;
  // @ts-expect-error -- a page has no such property
  @fromQuery(Page) page!: { number: number };
  // @ts-expect-error -- a query makes one object
  @fromQuery(Page) pages!: Page[];
  // @ts-expect-error -- a quantity is a number
  @fromForm(schemas.zod) form!: { sku: string; quantity: string };
  // @ts-expect-error -- the body is a list
  @fromBody(list(schemas.zod)) body!: Infer<typeof schemas.zod>;
}

/** One value without a dto: it may be undefined where it is not required. (options-apart.ts has options of other kinds.) */
const { routeValue: configuredRoute, queryValue: configuredQuery } = configure();
export const values = (req: Request) => ({
  id: routeValue(req, 'id', guid),
  loose: routeValue(req, 'id', long, { required: false }),
  schema: queryValue(req, 'letter', schemas.enumeration),
  maybe: queryValue(req, 'page', optional(int)),
  point: queryValue(req, 'page', Page),
  configured: configuredRoute(req, 'id', int),
  configuredLoose: configuredQuery(req, 'page', int, { required: false }),
  // @ts-expect-error -- what is not required may be undefined
  length: routeValue(req, 'id', string, { required: false }).length,
  // @ts-expect-error -- the name of an option with a mistake in it
  mistaken: routeValue(req, 'id', string, { requierd: false }),
});
type Values = ReturnType<typeof values>;
holds<Equal<Values['id'], string>>();
holds<Equal<Values['loose'], bigint | undefined>>();
holds<Equal<Values['schema'], 'a' | 'b'>>();
holds<Equal<Values['maybe'], number | undefined>>();
holds<Equal<Values['point'], Page>>();
holds<Equal<Values['configured'], number>>();
holds<Equal<Values['configuredLoose'], number | undefined>>();

/** What is given for a type must fit that type: public-api.ts has what does. */
class Money {
  constructor(readonly cents: number) {}
}
// @ts-expect-error -- it makes a number of what is to be Money
valueParserFor(Money, text => ({ success: true, value: Number(text) }));
// @ts-expect-error -- a result says whether it is one
valueParserFor(int, text => Number(text));

export const orders = serializerContext({ request: list(Page), responses: { 201: Page, 404: schemas.zod } });
holds<Equal<ReturnType<typeof orders.read>, Promise<Page[]>>>();

export const mistakes = (): BindingOptions[] => [
  // @ts-expect-error -- there is no policy of this name
  { propertyNamingPolicy: 'SNAKE_CASE' },
  // @ts-expect-error -- a converter writes, too
  { converters: [{ type: Money, read: () => ({ success: false }) }] },
  // @ts-expect-error -- a response is declared by its status
  { responses: { created: Page } },
  // @ts-expect-error -- a response is declared by a type
  { responses: { 200: 'text' } },
];
