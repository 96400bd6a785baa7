import {
  bind,
  bool,
  configure,
  decimal,
  dto,
  field,
  file,
  formField,
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
  serializerContext,
  string,
  type AnyType,
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

it('leaves out what is undefined', async () => {
  class Any extends dto({ a: queryParam(optional(string)), b: fromHeader(optional(string)) }) {}
  const absent = undefined as unknown as string;
  expect(await bind(Any, { query: { a: absent }, headers: { b: absent }, cookies: { c: absent } })).toEqual({});
});

class Parts extends dto({
  tags: queryParam(list(string), { default: [] }),
  tenant: fromHeader(list(string), { name: 'X-Tenant', default: [] }),
  sizes: formField(list(int), { default: [] }),
}) {}

it.each<[string, SentParts, object]>([
  ['URLSearchParams', { query: new URLSearchParams('tags=a&tags=b,c') }, { tags: ['a', 'b,c'] }],
  ['a form of URLSearchParams', { form: new URLSearchParams({ sizes: '1,2' }) }, { sizes: [1, 2] }],
  ['Headers', { headers: new Headers({ 'x-tenant': 'a' }) }, { tenant: ['a'] }],
  ['an array of a header', { headers: { 'X-TENANT': ['a', 'b'] } }, { tenant: ['a', 'b'] }],
])('takes values in %s', async (_what, sent, values) => {
  expect(await bind(Parts, sent)).toEqual({ tags: [], tenant: [], sizes: [], ...values });
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

it('plans a dto once, however often it is bound', async () => {
  let read = 0;
  const Counted = dto({
    n: {
      codec: codecs => {
        read++;
        return codecs.of(int);
      },
    } as typeof int,
  });
  for (let time = 0; time < 3; time++) expect(await bind(Counted, { body: { n: time } })).toEqual({ n: time });
  expect(read).toBe(1);
});

it.each<[string, unknown, string]>([
  ['a body and a form', { body: {}, form: {} }, 'bind: give either body or form; a request has one body'],
  ['an unknown part', { boddy: {} }, 'bind: there is no option "boddy"; did you mean "body"?'],
  ['nothing', undefined, 'bind: options must be an object, not undefined'],
])('refuses %s', async (_title, sent, message) => {
  await expect(bind(Line, sent as SentParts)).rejects.toThrow(new TypeError(message));
});

it.each<[string, unknown, BindingOptions, string]>([
  ['another value than a type', { a: 1 }, {}, 'bind: An object (a dto is a class: '],
  ['a binder that is none', Line, { binder: () => ({}) as never }, 'bind: the function in `binder` must return'],
  [
    'a context of another type',
    Line,
    { serializerContext: serializerContext({ request: PlaceOrder }) },
    'bind: the seri',
  ],
  ['a response that cannot be written', Line, { responses: { 200: file } }, 'bind: responses[200]: it contains a file'],
])('names itself where it refuses %s', async (_title, Dto, options, message) => {
  await expect(bind(Dto as AnyType, { body: {} }, options)).rejects.toThrow(message);
});

it.each<[string, unknown]>([
  ['null', null],
  ['5', 5],
  ['true', true],
  ['a function', () => ({})],
])('refuses options that are %s', async (given, options) => {
  await expect(bind(Line, { body: {} }, options as object)).rejects.toThrow(
    new TypeError(`bind: options must be an object, not ${given}`),
  );
});

it('has no files: a dto that requires one cannot be bound', async () => {
  expect(await failuresOf(bind(dto({ photo: file }), { form: {} }))).toEqual(['400', 'form photo']);
});
