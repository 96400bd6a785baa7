import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';
import { apiDocs, bindRequest, bool, BOUND, configure, cookieValue, date, dateTime, decimal, double } from '../../lib';
import { dto, enumOf, field, file, formField, fromBody, fromClaim, fromCookie, fromForm, fromHeader } from '../../lib';
import { fromQuery, guid, hasPermission, headerValue, idempotency, int, jsonField, lazy, list, long } from '../../lib';
import { memoryLeases, nullable, omit, oneOf, openapi, optional, partial, pick, plainText } from '../../lib';
import { postgresLeases, postgresStore, Problem, problemDetails, queryParam, queryValue, record } from '../../lib';
import { redisLeases, RequestBinder, routeParam, routeValue, serializerContext, sqliteStore, string } from '../../lib';
import { time, timeSpan, uri, valueParserFor, version } from '../../lib';
import type { Binder, BinderContext, BindHandler, BoolRules, BoundLocals, BoundRequest, Claims } from '../../lib';
import type { CommonRules, DateRules, Fail, FileRules, IdempotencyEvent, IdempotencyMiddleware } from '../../lib';
import type { Infer, JsonConverter, LeaseStore, ListRules, NumberRules, OneOf, ParseResult } from '../../lib';
import type { PropertyType, RuledType, SerializerContext, Source, Store, StringRules } from '../../lib';
import type { TransactionAdapter, ValueParser } from '../../lib';
import { idempotentFetch } from '../../lib/client';
import { leaseStoreContract } from '../../lib/testing';
import { holds, type Equal } from './equal';

/**
 * The names of the public API, each in the form in which an application writes it. They are a promise: a change for
 * which a line here has to be rewritten breaks applications. public-api.spec.ts runs the application at the end,
 * spec/package/public-names.spec.ts compiles all of it against the published declarations.
 */

// The types of values, and what each of them reads.

enum Size {
  Small,
  Large,
}
class Money {
  private constructor(readonly cents: number) {}
  static tryParse(text: string | undefined): ParseResult<Money> {
    const cents = Number(text);
    return Number.isInteger(cents) ? { success: true, value: new Money(cents) } : { success: false };
  }
}
class Plain {
  cents = 0;
}
interface NodeShape {
  name: string;
  children: NodeShape[];
}
class Node extends dto({ name: string, children: list(lazy((): new () => NodeShape => Node)) }) {}
class OrderLine extends dto({ sku: string, quantity: int, unitPrice: decimal }) {}
class Card extends dto({ number: string }) {}
class Iban extends dto({ iban: string }) {}
class Stay extends dto({ from: date, to: date, note: optional(string) }) {
  static check(stay: Stay, fail: Fail<Stay>): void {
    if (stay.to < stay.from) fail('to', 'must not be before from');
  }
}
const schema = z.object({ sku: z.string() });

/** Everything that is a type; `PropertyType` is the word for it. */
export const types = {
  ...{ bool, int, long, double, decimal, string, date, dateTime, time, timeSpan, guid, uri, version, file },
  enumeration: enumOf(Size),
  words: enumOf(['S', 'M', 'L']),
  list: list(int),
  optional: optional(int),
  nullable: nullable(int),
  record: record(int),
  oneOf: oneOf('kind', { card: Card, iban: Iban }),
  partial: partial(Stay),
  pick: pick(Stay, ['from', 'to']),
  omit: omit(Stay, ['note']),
  lazy: lazy(() => Node),
  nested: OrderLine,
  parsable: Money,
  schema,
} satisfies Record<string, PropertyType>;
type Values = { [Name in keyof typeof types]: Infer<(typeof types)[Name]> };
holds<Equal<Values['long'], bigint>>();
holds<Equal<Values['dateTime'], Date>>();
holds<Equal<Values['timeSpan'], number>>();
holds<Equal<Values['guid'], string>>();
holds<Equal<Values['uri'], URL>>();
holds<Equal<Values['words'], 'S' | 'M' | 'L'>>();
holds<Equal<Values['optional'], number | undefined>>();
holds<Equal<Values['nullable'], number | null>>();
holds<Equal<Values['nested'], OrderLine>>();
holds<Equal<Values['date'], string>>();
holds<Equal<Values['time'], string>>();
holds<Equal<Values['record'], Record<string, number>>>();
holds<Equal<Values['oneOf'], (Card & { kind: 'card' }) | (Iban & { kind: 'iban' })>>();
holds<Equal<Values['oneOf'], OneOf<'kind', { card: typeof Card; iban: typeof Iban }>>>();
holds<Equal<Values['partial'], { from?: string; to?: string; note?: string | undefined }>>();
holds<Equal<Values['pick'], Pick<Stay, 'from' | 'to'>>>();
holds<Equal<Values['omit'], Pick<Stay, 'from' | 'to'>>>();
holds<Equal<Values['parsable'], Money>>();
holds<Equal<Values['schema'], { sku: string }>>();

/** A type of some values, whatever it is made of. */
export const ofNumbers: PropertyType<number>[] = [int, double, timeSpan, z.number()];
export const ofMoney: PropertyType<Money> = Money;
export const ofLines: PropertyType<OrderLine[]> = list(OrderLine);
holds<Equal<Infer<PropertyType<number>>, number>>();
// @ts-expect-error -- its values are texts
export const mistaken: PropertyType<number> = guid;
// @ts-expect-error -- no type
export const noType: PropertyType = {};

// The rules of each type.

const texts: StringRules & CommonRules<string> = {
  ...{ minLength: 1, maxLength: 9, pattern: /a/, format: 'email', trim: true },
  check: text => text !== 'x' || 'must not be x',
};
const numbers: NumberRules = { minimum: 1, maximum: 9n, exclusiveMinimum: '0', exclusiveMaximum: 10, multipleOf: 1 };
const items: ListRules = { minItems: 1, maxItems: 2, uniqueItems: true };
const bytes: FileRules = { maxBytes: 1, mediaTypes: ['image/*'] };
const days: DateRules = { minimum: '2026-01-01', maximum: new Date() };
const box: BoolRules = { checkbox: true };
export const ruled: readonly PropertyType[] = [
  string.with(texts),
  ...[int, long, double, decimal].map((type: { with(rules: NumberRules): PropertyType }) => type.with(numbers)),
  list(int, items),
  file.with(bytes),
  ...[date, dateTime].map((type: { with(rules: DateRules): PropertyType }) => type.with(days)),
  bool.with(box),
  guid.with({ check: () => Promise.resolve(true as const) }),
];
export const whole: RuledType<number, NumberRules> = int;

// A dto in both notations, with every function and option of properties.

class PlaceOrder extends dto({
  customerId: routeParam(guid),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  items: field(list(OrderLine)),
  rush: queryParam(bool, { default: false }),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {}
class Decorated {
  @routeParam(guid) customerId!: string;
  @fromHeader(string, { name: 'X-Tenant' }) tenant!: string;
  @queryParam(bool) rush = false;
}
export const sources = ['json', 'form', 'route', 'query', 'claim', 'header', 'cookie', 'permission'] satisfies Source[];
holds<Equal<Source, (typeof sources)[number]>>();
class Everywhere extends dto({
  field: field(int, { bindFrom: 'f', jsonPropertyName: 'f', dontBind: ['query'], required: true, jsonRequired: true }),
  json: jsonField(int, { jsonPropertyName: 'j', required: true, jsonRequired: true, description: 'd' }),
  form: formField(optional(string), { bindFrom: 'g' }),
  claim: fromClaim(string, { name: 'sub' }),
  cookie: fromCookie(string, { name: 'sid', required: false, fallback: false }),
  signed: fromCookie(string, { signed: true }),
  query: fromQuery(dto({ page: int })),
}) {}
class Whole extends dto({ body: fromBody(list(OrderLine)) }) {}
class Form extends dto({ form: fromForm(dto({ title: string, cover: file })) }) {}
class Text extends dto({ content: plainText() }) {}

export const bound: readonly RequestHandler[] = [
  ...[PlaceOrder, Decorated, Whole, Text].map(Dto => bindRequest(Dto)),
  ...[Everywhere, Form].map(Dto => bindRequest(Dto, { allowFormData: { urlEncoded: true } })),
  bindRequest(list(OrderLine)),
  bindRequest(schema),
  bindRequest(PlaceOrder, { fieldSources: ['json', 'form', 'route', 'query'], fallback: false }),
];

// What replaces parts of binding.

const binder: Binder<PlaceOrder> = {
  bind({ req }, signal) {
    signal.throwIfAborted();
    return Object.assign(new PlaceOrder(), { tenant: req.path });
  },
};
class OrderBinder extends RequestBinder<PlaceOrder> implements Binder<PlaceOrder> {
  override async bind(context: BinderContext<PlaceOrder>, signal: AbortSignal): Promise<PlaceOrder> {
    const order = await super.bind(context, signal);
    const { req, res, Dto, serializerOptions, failures } = context;
    if (failures.length > 0) context.fail('tenant', `${req.path} ${res.statusCode} ${String(Dto === PlaceOrder)}`);
    return serializerOptions.converters ? order : Object.assign(order, { rush: true });
  }
}
const converter: JsonConverter<Plain> = {
  type: Plain,
  read: json => ({ success: true, value: Object.assign(new Plain(), { cents: json }) }),
  write: ({ cents }) => cents,
};
const parser: ValueParser = valueParserFor(Plain, input => ({
  success: true,
  value: Object.assign(new Plain(), { cents: Number(input) }),
}));
const compiled = serializerContext({ request: PlaceOrder, responses: { 201: OrderLine } });
const anyBinder: Binder = new OrderBinder();
const anyConverter: JsonConverter = converter;
const anyContext: SerializerContext = compiled;
const answers: Record<number, PropertyType> = { 200: list(OrderLine), 201: OrderLine, 202: schema, 203: Money };

export const replaced = [
  bindRequest(PlaceOrder, { binder }),
  bindRequest(PlaceOrder, { binder: anyBinder }),
  bindRequest(PlaceOrder, { binder: () => new OrderBinder() }),
  bindRequest(PlaceOrder, {
    binder: anyBinder,
    modifier: (_dto, _Dto, context, signal) => {
      if (signal.aborted) context.fail('items', 'Too late.');
    },
    valueParsers: [parser],
    propertyNamingPolicy: 'snake_case',
    converters: [anyConverter],
    serializerContext: anyContext,
    claims: (): Claims => ({ sub: 'ann' }),
    permissions: () => new Set(['orders:discount']),
    responses: answers,
    limits: { bodyBytes: 1_000, fields: 10, files: 1, depth: 3, items: 10 },
    uploads: { storage: 'memory' },
    allowFormData: true,
    allowAnonymous: false,
  }),
];

// The middlewares in an application.

const kinds = [
  ...(['executed', 'replayed', 'waited', 'conflicted', 'unavailable', 'outcome-unknown', 'reused'] as const),
  ...(['store-failed', 'unguarded', 'lease-lost', 'not-stored', 'forgotten'] as const),
] satisfies IdempotencyEvent['kind'][];

export const guard: IdempotencyMiddleware = idempotency({
  ...{ headerName: 'Idempotency-Key', additionalHeaders: ['Accept'], whenKeyMissing: 'reject', methods: ['POST'] },
  ...{ ignoreRequestBody: false, sameBody: 'bytes', includeFileContents: false, ignoreHost: false },
  ...{ cacheDuration: 600_000, addHeaderToResponse: true, store: new Keyv(), leases: memoryLeases() },
  ...{ swaggerHeaderDescription: 'A key.', swaggerExampleGenerator: () => 'abc', swaggerHeaderType: guid },
  ...{
    whenInFlight: 'wait',
    waitTimeout: 10_000,
    whenKeyReused: 'run',
    whenStoreFails: 'reject',
    whenOwnerDies: 'run',
  },
  ...{ storeTimeout: 2_000, leaseDuration: 30_000, maxRequestBytes: 10_000, maxResponseBytes: 10_000 },
  ...{ replayedHeader: 'Idempotent-Replayed', keyPattern: /^[\w-]+$/ },
  scope: req => req.get('X-Tenant'),
  shouldCache: ({ status }, req) => status < 500 && req.method === 'POST',
  onEvent: ({ kind }, req) => kinds.some(known => known === kind) && req.path,
});
export const purge: (cacheKey: string) => Promise<unknown> = guard.purge;
export const resolve: (cacheKey: string, outcome: 'ran' | 'did-not-run') => Promise<boolean> = guard.resolve;

/** Takes the dto in a handler that is declared apart from its route. */
function place(req: BoundRequest<typeof PlaceOrder>, res: Response): void {
  holds<Equal<typeof req.dto, PlaceOrder>>();
  res.status(201).json(req.dto.tenant);
}

/** Sets a dto without `bindRequest`; its type is in the locals, under the key `BOUND`. */
const inCents: BindHandler<{ cents: number }> = (req: IncomingMessage, res, next) => {
  const { [BOUND]: type, ...others }: BoundLocals<{ cents: number }> = res.locals;
  holds<Equal<typeof type, readonly [dto: { cents: number }] | undefined>>();
  Object.assign(req, { dto: { cents: 5, type: typeof type, others } });
  next();
};
const written: BindHandler<{ cents: number }> = (
  _req,
  _res: Response<unknown, { [BOUND]?: readonly [dto: { cents: number }] }>,
  next,
) => {
  next();
};

export const stores = (
  client: Parameters<typeof redisLeases>[0],
  pool: Parameters<typeof postgresLeases>[0],
): LeaseStore[] => [
  memoryLeases(),
  redisLeases(client),
  redisLeases(client, {}),
  postgresLeases(pool),
  postgresLeases(pool, { schema: 'shop', prefix: 'once_' }),
  postgresStore(pool).leases,
  sqliteStore('keys.db').leases,
];
export const bothIn = (pool: Parameters<typeof postgresStore>[0], store: Store): RequestHandler[] => [
  idempotency({ store: postgresStore(pool) }),
  idempotency({ store }),
];
export const committed = (
  req: Request,
  adapter: TransactionAdapter<{ query(text: string): Promise<number> }>,
): Promise<number> => req.idempotency.commitWith(adapter, tx => tx.query(req.idempotency.derivedKey('charge')));
export const contract = (): void => {
  leaseStoreContract('memoryLeases()', () => ({ one: memoryLeases(), other: memoryLeases() }));
};
export const send = (): Promise<{ readonly response: globalThis.Response }> =>
  idempotentFetch()('/orders', { method: 'POST', operation: 'order' });

export const problems = (): Problem[] => [
  new Problem('key-missing', 'No key.', { headers: { 'Retry-After': '1' } }),
  new Problem('out-of-stock', 'Only 3 are left.', { status: 409, title: 'Out of stock' }),
  // @ts-expect-error -- a code of the application's own needs a status.
  new Problem('out-of-stock', 'Only 3 are left.'),
];

/** An application with the middlewares. */
export function application(): express.Express {
  const app = express();
  const configured = configure({
    idempotency: { cacheDuration: 1_000 },
    binding: { allowAnonymous: true },
    onProblem: (problem, _req, _res, next) => {
      next(problem);
    },
  });
  app.post('/orders/:customerId', idempotency(), bindRequest(PlaceOrder), (req, res) => {
    holds<Equal<typeof req.dto, PlaceOrder>>();
    holds<Equal<typeof req.params, { customerId: string }>>();
    const { key, cacheKey, signal, forget } = req.idempotency;
    const guarded: { key: string; cacheKey: string; signal: AbortSignal } = { key, cacheKey, signal };
    if (guarded.signal.aborted) forget();
    res.status(201).json([guarded.key, req.dto.tenant, req.dto.mayDiscount]);
  });
  app.post('/apart/:customerId', configured.idempotency(), configured.bindRequest(PlaceOrder), place);
  app.post('/cents', inCents, (req, res) => {
    holds<Equal<typeof req.dto, { cents: number }>>();
    res.json(req.dto);
  });
  app.post('/written', written, (req, res) => {
    holds<Equal<typeof req.dto, { cents: number }>>();
    res.json(req.dto);
  });
  app.get('/values/:id', (req, res) => {
    res.json([
      routeValue(req, 'id', guid),
      queryValue(req, 'page', int, { required: false }) ?? null,
      headerValue(req, 'X-Tenant', string),
      cookieValue(req, 'sid', string, { required: false }) ?? null,
    ]);
  });
  const info = { title: 'Shop', version: '1.0.0' };
  app.use('/docs', apiDocs(app, { info }));
  app.get('/described', (_req, res) => {
    res.json(openapi(app, { info }).paths);
  });
  const asNode: (req: IncomingMessage, res: ServerResponse, next: NextFunction) => void = idempotency();
  app.use('/node', asNode);
  app.use(problemDetails());
  return app;
}
