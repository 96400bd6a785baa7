import {
  bind,
  bool,
  configure,
  decimal,
  dto,
  field,
  fromBody,
  fromClaim,
  fromCookie,
  fromForm,
  fromHeader,
  hasPermission,
  int,
  list,
  long,
  optional,
  plainText,
  Problem,
  queryParam,
  RequestBinder,
  routeParam,
  string,
  type BinderContext,
  type BindingOptions,
  type SentParts,
} from '../../lib';

class Line extends dto({ sku: string, price: decimal }) {}
class PlaceOrder extends dto({
  customer: routeParam(int),
  lines: list(Line),
  total: long,
  rush: queryParam(bool, { default: false }),
  tags: queryParam(list(string), { default: [] }),
  tenant: fromHeader(string, { name: 'X-Tenant' }),
  theme: fromCookie(optional(string)),
  user: fromClaim(string, { name: 'sub' }),
  mayDiscount: hasPermission('orders:discount', { required: false }),
}) {}

const parts: SentParts = {
  body: '{"lines":[{"sku":"tea","price":4.50}],"total":9007199254740993}',
  params: { customer: '42' },
  query: { rush: true, tags: ['a', 'b'] },
  headers: { 'x-tenant': 'acme' },
  cookies: { theme: 'dark blue' },
  claims: { sub: 'u1', permissions: ['orders:discount'] },
};

/** The failures of a dto that is not bound. */
async function failuresOf(binding: Promise<unknown>): Promise<string[]> {
  const problem = await binding.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(problem instanceof Problem)) throw problem;
  return [String(problem.status), ...(problem.errors ?? []).map(({ name, in: source }) => `${source} ${name}`)];
}

it('binds every source of a request that was not sent over HTTP', async () => {
  const order = await bind(PlaceOrder, parts);
  expect(order).toBeInstanceOf(PlaceOrder);
  expect({ ...order, lines: order.lines.map(({ sku, price }) => [sku, price.toFixed(2)]) }).toEqual({
    customer: 42,
    lines: [['tea', '4.50']],
    total: 9007199254740993n,
    rush: true,
    tags: ['a', 'b'],
    tenant: 'acme',
    theme: 'dark blue',
    user: 'u1',
    mayDiscount: true,
  });
});

it.each<[string, SentParts]>([
  ['text', { body: '{"total":"9007199254740993"}' }],
  ['bytes', { body: Buffer.from('{"total":9007199254740993}') }],
  ['a value', { body: { total: 9007199254740993n } }],
  ['an object that writes itself', { body: { toJSON: () => ({ total: '9007199254740993' }) } }],
  ['a form', { form: { total: 9007199254740993n } }],
])('takes a body as %s', async (_title, sent) => {
  expect(await bind(dto({ total: long }), sent)).toEqual({ total: 9007199254740993n });
});

it('takes lists, whole bodies, whole forms and texts', async () => {
  expect(await bind(list(int), { body: [1, 2] })).toEqual([1, 2]);
  expect(await bind(dto({ all: fromBody(list(int)) }), { body: [1, 2] })).toEqual({ all: [1, 2] });
  expect(await bind(dto({ all: fromForm(dto({ tags: list(int) })) }), { form: { 'tags[]': [1, 2] } })).toMatchObject({
    all: { tags: [1, 2] },
  });
  expect(await bind(dto({ text: plainText() }), { body: 'as it is' })).toEqual({ text: 'as it is' });
  expect(await bind(dto({ page: queryParam(int) }), { query: '?page=2' })).toEqual({ page: 2 });
});

it('rejects with the problem that bindRequest answers with, which lists all failures', async () => {
  const [status, ...failures] = await failuresOf(
    bind(PlaceOrder, { body: '{"lines":[{"sku":"tea","price":"x"}]}', query: { rush: 'maybe' } }),
  );
  expect(status).toBe('400');
  expect(failures.sort()).toEqual([
    'claim sub',
    'header X-Tenant',
    'json lines[0].price',
    'json total',
    'query rush',
    'route customer',
  ]);
});

it.each<[string, Promise<unknown>, string[]]>([
  ['broken JSON', bind(Line, { body: '{' }), ['400']],
  ['nobody, where nobody may', bind(Line, { body: {} }, { allowAnonymous: false }), ['401']],
  [
    'a missing permission',
    bind(dto({ may: hasPermission('x') }), { claims: {}, permissions: ['y'] }),
    ['400', 'permission x'],
  ],
])('rejects %s', async (_title, binding, expected) => {
  expect((await failuresOf(binding)).slice(0, expected.length)).toEqual(expected);
});

it('goes by the defaults of configure(), and by options', async () => {
  const { bind: configured } = configure({
    binding: {
      propertyNamingPolicy: 'snake_case',
      modifier: dto => {
        Object.assign(dto as object, { seen: true });
      },
    },
  });
  class Named extends dto({ unitPrice: int, seen: field(optional(bool)) }) {}
  expect(await configured(Named, { body: { unit_price: 1 } })).toEqual({ unitPrice: 1, seen: true });
  expect(await configured(Named, { body: { unitPrice: 1 } }, { propertyNamingPolicy: 'camelCase' })).toEqual({
    unitPrice: 1,
    seen: true,
  });
});

it('calls an own binder and a modifier with the parts, and a signal that does not abort', async () => {
  class Own extends RequestBinder<Line> {
    override async bind(context: BinderContext<Line>, signal: AbortSignal): Promise<Line> {
      const line = await super.bind(context, signal);
      return Object.assign(line, { sku: `${line.sku} ${context.req.headers['x-tenant']?.toString()}` });
    }
  }
  let aborted: boolean | undefined;
  const options: BindingOptions<Line> = {
    binder: new Own(),
    modifier: (_dto, _Dto, _context, signal) => {
      aborted = signal.aborted;
    },
  };
  const sent = { body: { sku: 'tea', price: 1 }, headers: { 'X-Tenant': 'acme' } };
  expect([(await bind(Line, sent, options)).sku, aborted]).toEqual(['tea acme', false]);
});

it.each<[string, unknown]>([
  ['bind: give either body or form; a request has one body', { body: {}, form: {} }],
  ['bind: there is no option "boddy"; did you mean "body"?', { boddy: {} }],
  ['bind: options must be an object, not undefined', undefined],
])('refuses %s', async (message, sent) => {
  await expect(bind(Line, sent as SentParts)).rejects.toThrow(new TypeError(message));
});
