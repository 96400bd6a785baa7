import { bool, dto, enumOf, field, fromHeader, guid, int, list, string, type AnyType } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded } from '../../support/one-endpoint';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

class Address extends dto({ street: string, floor: int }) {}

const HOME = { street: 'Main, 1', floor: 2 };
const WORK = { street: 'Side', floor: 0 };
const json = (value: unknown): string => JSON.stringify(value);

describe('fromHeader binds a header by its name', () => {
  const inHeader = async (type: AnyType, lines: string | readonly string[]): Promise<unknown> => {
    class Request extends dto({ v: fromHeader(type, { name: 'X-Value' }) }) {}
    const { status, dto: bound } = await bind(Request, { headers: { 'x-value': lines } });
    return status === 200 ? bound?.v : status;
  };

  it.each<[string, string, AnyType, unknown]>([
    ['a, b', 'string', string, 'a, b'],
    ['', 'string', string, ''],
    ['-7', 'int', int, -7],
    ['TRUE', 'bool', bool, true],
    [ID.toUpperCase(), 'guid', guid, ID],
    ['GOLD', 'enum', enumOf(['gold', 'silver']), 'gold'],
  ])('a scalar: "%s" as %s', async (value, _name, type, expected) => {
    expect(await inHeader(type, value)).toEqual(expected);
  });

  it.each<[string, AnyType, string | readonly string[], unknown]>([
    ['a repeated header', list(int), ['3', '1', '2'], [3, 1, 2]],
    ['one comma-separated value, trimmed', list(int), '1, 2 ,3', [1, 2, 3]],
    ['one value', list(string), 'a', ['a']],
    ['a repeated header, commas and all', list(string), ['a,b', 'c'], ['a,b', 'c']],
    ['comma-separated enums', list(enumOf(['x', 'y'])), 'X, y', ['x', 'y']],
  ])('a collection: %s', async (_shape, type, lines, expected) => {
    expect(await inHeader(type, lines)).toEqual(expected);
  });

  it('a JSON object is an instance', async () => {
    const address = await inHeader(Address, json(HOME));
    expect(address).toEqual(HOME);
    expect(address).toBeInstanceOf(Address);
  });

  it.each<[string, AnyType, string | readonly string[], unknown]>([
    ['of scalars', list(int), '[1, 2]', [1, 2]],
    ['of texts with commas', list(string), '["a,b","c"]', ['a,b', 'c']],
    ['of objects', list(Address), json([HOME, WORK]), [HOME, WORK]],
    ['of objects, without brackets', list(Address), `${json(HOME)},${json(WORK)}`, [HOME, WORK]],
    ['of objects, one in each line', list(Address), [json(HOME), json(WORK)], [HOME, WORK]],
    ['of nothing', list(int), '[]', []],
  ])('a JSON array %s', async (_what, type, lines, expected) => {
    expect(await inHeader(type, lines)).toEqual(expected);
  });

  it.each<[string, AnyType, string | readonly string[], string, string | undefined]>([
    ['text', int, 'x', 'X-Value', undefined],
    ['two lines for a scalar', int, ['1', '2'], 'X-Value', undefined],
    ['one item', list(int), '1,x', 'X-Value[1]', undefined],
    ['broken JSON', Address, '{"street":', 'X-Value', undefined],
    ['a field of an object', Address, '{"street":"a","floor":"x"}', 'X-Value.floor', '/floor'],
    ['a field of an item', list(Address), json([HOME, { street: 'a' }]), 'X-Value[1].floor', '/1/floor'],
  ])('an unreadable value is a failure under the header name: %s', async (_what, type, lines, name, pointer) => {
    class Request extends dto({ own: fromHeader(type, { name: 'X-Value' }) }) {}
    const {
      status,
      errors: [error, ...more],
    } = await bind(Request, { headers: { 'x-value': lines } });
    expect([status, error?.name, error?.in, error?.pointer, more]).toEqual([400, name, 'header', pointer, []]);
  });
});

describe('a missing header', () => {
  class Required extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant' }),
    level: fromHeader(int, { required: true }),
  }) {}

  it.each(expressVersions)('is a validation error while it is required (%s)', async (_version, framework) => {
    const {
      status,
      problem,
      dto: bound,
    } = await bind(
      Required,
      { path: '/?tenant=a&X-Tenant=a&level=1', headers: { Cookie: 'tenant=a; level=1' } },
      { framework },
    );
    expect([status, bound, problem?.type]).toEqual([400, undefined, 'urn:bindonce:validation-failed']);
    expect(problem?.errors).toEqual(
      ['X-Tenant', 'level'].map(name => ({ name, in: 'header', detail: 'This header is missing from the request.' })),
    );
  });

  class Loose extends dto({
    tenant: fromHeader(string, { name: 'X-Tenant', required: false }),
    note: field(string, { required: false }),
  }) {}

  const inJson: Sent = { json: { tenant: 'json', 'X-Tenant': 'no' } };
  const inForm: Sent = {
    form: 'tenant=form&X-Tenant=no',
  };
  const sent: readonly [string, Sent, string | undefined][] = [
    ['nothing', {}, undefined],
    ['the JSON body', inJson, 'json'],
    ['a form', inForm, 'form'],
    ['the route over the JSON body', { ...inJson, path: '/route' }, 'route'],
    ['the route over a form', { ...inForm, path: '/route' }, 'route'],
    ['the query over all', { ...inJson, path: '/route?tenant=query&X-Tenant=no' }, 'query'],
    ['no cookie', { headers: { Cookie: 'tenant=no; X-Tenant=no' } }, undefined],
  ];
  const options = { ...urlEncoded, route: '/{:tenant}', user: { tenant: 'no', 'X-Tenant': 'no' } } as const;
  const withHeader = (request: Sent): Sent => ({ ...request, headers: { ...request.headers, 'X-Tenant': 'header' } });

  it.each(sent)(
    'lets the handler run while it is not required, with the value of %s',
    async (_source, request, value) => {
      expect(await bind(Loose, request, options)).toMatchObject({
        status: 200,
        dto: value === undefined ? {} : { tenant: value },
      });
      expect((await bind(Loose, withHeader(request), options)).dto?.tenant).toBe('header');
    },
  );
});
