import { bool, dto, field, fromClaim, fromCookie, fromHeader, hasPermission, string, type Claims } from '../../../lib';
import { sourcesInOrder } from '../../../lib/binding/sources/order';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** A request under construction: each source adds its own name as the value. */
interface Adding {
  sent: Sent;
  path: string;
  query: string;
  user?: Claims;
}

const adding: Record<string, (to: Adding) => void> = {
  json: to => {
    to.sent = { ...to.sent, json: { v: 'json' } };
  },
  form: to => {
    to.sent = { ...to.sent, form: 'v=form' };
  },
  route: to => {
    to.path = '/route';
  },
  query: to => {
    to.query = '?v=query';
  },
  claim: to => {
    to.user = { v: 'claim' };
  },
  header: to => {
    to.sent = { ...to.sent, headers: { ...to.sent.headers, V: 'header' } };
  },
  cookie: to => {
    to.sent = { ...to.sent, headers: { ...to.sent.headers, Cookie: 'v=cookie' } };
  },
};

/** The dto whose `v` takes a value from the four common sources, and from the named one. */
const optionally = { required: false } as const;
const Dtos = {
  field: class extends dto({ v: field(string, optionally) }) {},
  claim: class extends dto({ v: fromClaim(string, optionally) }) {},
  header: class extends dto({ v: fromHeader(string, optionally) }) {},
  cookie: class extends dto({ v: fromCookie(string, optionally) }) {},
};

const common = ['json', 'form', 'route', 'query'];
// A request has one body: JSON and a form never meet. A property is bound to a claim, a header or a cookie, never to two of them.
const pairs = [
  ...common
    .flatMap((earlier, index) => common.slice(index + 1).map(later => ['field', earlier, later] as const))
    .filter(([, earlier, later]) => !(earlier === 'json' && later === 'form')),
  ...(['claim', 'header', 'cookie'] as const).flatMap(later => common.map(earlier => [later, earlier, later] as const)),
];

async function send(
  kind: keyof typeof Dtos,
  sources: readonly string[],
  framework = expressVersions[0]?.[1],
): Promise<string | undefined> {
  const to: Adding = { sent: {}, path: '/', query: '' };
  for (const source of sources) adding[source]?.(to);
  const { dto: bound } = await bind(
    Dtos[kind],
    { ...to.sent, path: to.path + to.query },
    {
      ...urlEncoded,
      ...(to.user && { user: to.user }),
      ...(framework && { framework }),
      route: framework === expressVersions[0]?.[1] ? '/{:v}' : '/:v?',
    },
  );
  return bound?.v;
}

it('the order is that of the specification, with cookies before permissions', () => {
  expect(sourcesInOrder.map(({ name }) => name)).toEqual([
    'body',
    'json',
    'form',
    'route',
    'query',
    'claim',
    'header',
    'cookie',
    'permission',
  ]);
});

it.each(pairs)('%s: %s is overwritten by %s', async (kind, earlier, later) => {
  expect(await send(kind, [earlier])).toBe(earlier);
  expect(await send(kind, [earlier, later])).toBe(later);
});

it('a permission wins over everything', async () => {
  class May extends dto({ v: hasPermission('x', optionally), other: field(bool, optionally) }) {}
  const sent: Sent = { path: '/true?v=true&other=true', json: { v: true }, headers: { V: 'true', Cookie: 'v=true' } };
  expect((await bind(May, sent, { route: '/:v', user: { v: 'true', permissions: [] } })).dto).toEqual({
    v: false,
    other: true,
  });
});

it('a later value that cannot be read is a failure, not a reason to keep the earlier one', async () => {
  class Flag extends dto({ v: bool }) {}
  expect((await bind(Flag, { path: '/?v=x', json: { v: true } })).errors).toEqual([
    { name: 'v', in: 'query', detail: 'The value "x" is not true or false.' },
  ]);
});
