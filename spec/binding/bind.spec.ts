import { tmpdir } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import {
  bind,
  bool,
  configure,
  decimal,
  dto,
  field,
  file,
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
  routeParam,
  serializerContext,
  string,
  type AnyType,
  type BindingOptions,
  type SentParts,
} from '../../lib';
import { held } from '../../lib/body/stream/holding';
import { openFiles } from '../support/open-files';

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

it.each<[string, SentParts]>([
  ['a comma', { query: { l: ['a,b'] } }],
  ['a comma, in a form', { form: { l: ['a,b'] } }],
  ['a comma, under a name with an index', { query: { 'l[0]': ['a,b'] } }],
])('an array of one text is one item: %s', async (_what, sent) => {
  expect(await bind(class extends dto({ l: list(string) }) {}, sent)).toEqual({ l: ['a,b'] });
});

it('an array of one text is one item: JSON', async () => {
  expect(await bind(class extends dto({ l: list(string) }) {}, { query: { l: ['["a"]'] } })).toEqual({ l: ['["a"]'] });
});

it('an array of one is the value of a property that is no collection, and one text may hold several items', async () => {
  class Mixed extends dto({ n: int, l: list(string) }) {}
  expect(await bind(Mixed, { query: { n: ['7'], l: 'a,b' } })).toEqual({ n: 7, l: ['a', 'b'] });
});

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

it('leaves out what is undefined, and refuses what no request can hold', async () => {
  class Any extends dto({ a: queryParam(optional(string)), b: fromHeader(optional(string)) }) {}
  const absent = undefined as unknown as string;
  expect(await bind(Any, { query: { a: absent }, headers: { b: absent }, cookies: { c: absent } })).toEqual({});
  await expect(bind(Any, { query: { a: null as unknown as string } })).rejects.toThrow(
    'bind: query.a is null; give text, a number, a boolean, or an array of them, or leave it out',
  );
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
  [
    'a body that is too long',
    bind(Line, { body: { sku: 'x'.repeat(2_000) } }, { limits: { bodyBytes: 1_000 } }),
    ['413'],
  ],
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

it('has no one whom a binder could answer', async () => {
  const binding = bind(
    Line,
    { body: {} },
    {
      binder: {
        bind: ({ res }) => {
          res.statusCode = 403;
          res.end();
          return {} as Line;
        },
      },
    },
  );
  await expect(binding).rejects.toThrow('bind: the binder or the modifier has written to `context.res`');
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
  [
    'what JSON cannot hold',
    { body: () => 1 },
    'bind: the body is a function, which JSON cannot hold; pass text, bytes, or a value of JSON',
  ],
  ['an unknown part', { boddy: {} }, 'bind: there is no option "boddy"; did you mean "body"?'],
  ['nothing', undefined, 'bind: options must be an object, not undefined'],
  [
    'a function as a value',
    { query: { sku: () => 1 } },
    'bind: query.sku is a function; give text, a number, a boolean, or an array of them, or leave it out',
  ],
  [
    'a symbol in an array',
    { form: { sku: ['tea', Symbol('tea')] } },
    'bind: form.sku is a symbol; give text, a number, a boolean, or an array of them, or leave it out',
  ],
  [
    'a time',
    { headers: { 'x-at': new Date(0) } },
    'bind: headers.x-at is an object; give text, a number, a boolean, or an array of them, or leave it out',
  ],
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

describe('when a dto is bound or refused, nothing is held for it any more:', () => {
  const sku = (length: number): SentParts => ({ body: { sku: 'x'.repeat(length), price: 1 } });
  const large = { limits: { bodyBytes: 5_000_000 } };

  it.each<[string, SentParts, object, number | 'bound']>([
    ['a body in memory', sku(100_000), {}, 'bound'],
    ['a body on disk', sku(3_000_000), large, 'bound'],
    ['a form', { form: { sku: 'x'.repeat(100_000), price: 1 } }, {}, 'bound'],
    ['a body in memory that is refused', { body: { sku: 'x'.repeat(100_000), price: 'x' } }, {}, 400],
    ['a body on disk that is refused', { body: { sku: 'x'.repeat(3_000_000), price: 'x' } }, large, 400],
    ['a body that is too long', sku(3_000_000), {}, 413],
    [
      'a body whose modifier fails',
      sku(100_000),
      { modifier: () => Promise.reject(new Problem('unauthenticated', '')) },
      401,
    ],
  ])('%s', async (_what, sent, options, expected) => {
    // The output of the process may be a file there.
    const before = openFiles(tmpdir()).length;
    const outcome = await bind(Line, sent, options).then(
      () => 'bound',
      (error: unknown) => (error as Problem).status,
    );
    expect([outcome, held.weight]).toEqual([expected, 0]);
    // The system closes a file in its own time.
    while (openFiles(tmpdir()).length > before) await turn();
  });

  it('the signal of the modifier, which would tell that a client has gone, does not abort', async () => {
    let signal: AbortSignal | undefined;
    await bind(Line, sku(1), {
      modifier: (_dto, _Dto, _context, given) => {
        signal = given;
      },
    });
    expect(signal?.aborted).toBe(false);
  });
});

it('has no files: a dto that requires one cannot be bound', async () => {
  expect(await failuresOf(bind(dto({ photo: file }), { form: {} }))).toEqual(['400', 'form photo']);
});
