import {
  bindRequest,
  dto,
  field,
  formField,
  fromClaim,
  fromCookie,
  fromHeader,
  queryParam,
  routeParam,
  string,
  type DtoClass,
  type Source,
} from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

/** The four sources that a property without an attribute has, in their order. A request has one body, so JSON and a form do not meet. */
const sources = ['json', 'form', 'route', 'query'] as const;
type Common = (typeof sources)[number];

/** A request in which each of these sources has its own name as the value of `v`. */
function from(...these: readonly Common[]): Sent {
  return {
    path: `/${these.includes('route') ? 'route' : ''}${these.includes('query') ? '?v=query' : ''}`,
    ...(these.includes('json') && { json: { v: 'json' } }),
    ...(these.includes('form') && { form: 'v=form' }),
  };
}

const withJson = from('json', 'route', 'query');
const withForm = from('form', 'route', 'query');
const last = (these: readonly Common[], sent: readonly Common[]): Common | undefined =>
  sent.filter(one => these.includes(one)).at(-1);

/** With a further property, a dto takes every kind of body whatever becomes of `v`. */
const note = field(string, { required: false });

/** All subsets of the four sources. */
const subsets = Array.from({ length: 16 }, (_, bits) => sources.filter((_source, index) => bits & (1 << index))).map(
  these => [these.join(', ') || 'nothing', these] as const,
);

describe.each(expressVersions)('dontBind (%s)', (_version, framework) => {
  const options = { ...urlEncoded, framework, route: framework === expressVersions[0]?.[1] ? '/{:v}' : '/:v?' };

  it.each(subsets)('of %s blocks that and no more', async (_title, blocked) => {
    const open = sources.filter(source => !blocked.includes(source));
    class Blocked extends dto({ v: field(string, { dontBind: blocked, required: false }), note }) {}
    expect((await bind(Blocked, withJson, options)).dto?.v).toBe(last(open, ['json', 'route', 'query']));
    expect((await bind(Blocked, withForm, options)).dto?.v).toBe(last(open, ['form', 'route', 'query']));
  });
});

describe('dontBind', () => {
  const options = { ...urlEncoded, route: '/{:v}' };

  it.each(sources)('a required value that is sent in %s alone, which is blocked, is missing', async blocked => {
    class Blocked extends dto({ v: field(string, { dontBind: [blocked] }), note }) {}
    const { status, errors } = await bind(Blocked, from(blocked), options);
    expect([status, errors.length, errors[0]?.name, errors[0]?.in === blocked]).toEqual([400, 1, 'v', false]);
  });

  it('blocks a source under every name that it has there', async () => {
    class Renamed extends dto({
      v: field(string, { dontBind: ['json', 'query'], bindFrom: 'b', jsonPropertyName: 'j', required: false }),
      note,
    }) {}
    expect((await bind(Renamed, { json: { v: 1, b: 'x', j: 'x' }, path: '/?v=x&b=x&B=x&j=x&b[]=x' })).dto).toEqual({});
  });

  it.each([
    ['a claim', fromClaim],
    ['a header', fromHeader],
    ['a cookie', fromCookie],
  ])('of %s that is not required blocks its fallback', async (_kind, declare) => {
    class Loose extends dto({ v: declare(string, { required: false, dontBind: ['query'], name: 'absent' }), note }) {}
    expect((await bind(Loose, withJson, options)).dto).toEqual({ v: 'route' });
    expect((await bind(Loose, from('query'), options)).dto).toEqual({});
  });

  it.each<[string, () => DtoClass<unknown>]>([
    [
      'bindRequest: Closed.v: it is required, but no source can supply it: all its sources are blocked.',
      () => class Closed extends dto({ v: field(string, { dontBind: sources }) }) {},
    ],
    [
      'dto: property "v": field: dontBind has "body"; there are: json, form, route, query, claim, header, cookie, permission',
      () => class Odd extends dto({ v: field(string, { dontBind: ['body' as Source] }) }) {},
    ],
  ])('of %s is refused when the middleware is made', (message, declare) => {
    expect(() => bindRequest(declare())).toThrow(message);
  });
});

describe.each(expressVersions)('one source (%s)', (_version, framework) => {
  const options = { ...urlEncoded, framework, route: framework === expressVersions[0]?.[1] ? '/{:v}' : '/:v?' };
  const single = [
    ['formField', 'form', formField],
    ['routeParam', 'route', routeParam],
    ['queryParam', 'query', queryParam],
  ] as const;
  const everywhereElse: Sent = { headers: { v: 'header', Cookie: 'v=cookie' } };

  it.each(single)('%s limits a property to the %s', async (_name, source, declare) => {
    class Single extends dto({ v: declare(string, { required: false }), note }) {}
    for (const one of sources) {
      const { status, dto: bound } = await bind(
        Single,
        { ...everywhereElse, ...from(one) },
        { ...options, user: { v: 'claim' } },
      );
      expect([one, status, bound?.v]).toEqual([one, 200, one === source ? source : undefined]);
    }
    expect((await bind(Single, withForm, options)).dto?.v).toBe(source);
    expect((await bind(Single, withJson, options)).dto?.v).toBe(source === 'form' ? undefined : source);
  });

  it.each(single)(
    '%s that is required is missing when only other sources than the %s have it',
    async (_name, source, declare) => {
      class Single extends dto({ v: declare(string), note }) {}
      const { status, errors } = await bind(
        Single,
        from(...sources.filter(one => one !== source && one !== 'form')),
        options,
      );
      expect([status, errors.map(({ name, in: where }) => [name, where])]).toEqual([400, [['v', source]]]);
    },
  );
});
