import express from 'express';
import {
  bindRequest,
  configure,
  dto,
  field,
  fromBody,
  int,
  list,
  serializerContext,
  string,
  type BindingOptions,
  type NamingPolicyName,
} from '../../../lib';
import { ask } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

/** What each policy makes of the name of a property. */
const names: readonly [name: string, camelCase: string, snake_case: string, kebabCase: string, PascalCase: string][] = [
  ['customerId', 'customerId', 'customer_id', 'customer-id', 'CustomerId'],
  ['CustomerId', 'customerId', 'customer_id', 'customer-id', 'CustomerId'],
  ['customerID', 'customerID', 'customer_id', 'customer-id', 'CustomerID'],
  ['URLPath', 'urlPath', 'url_path', 'url-path', 'URLPath'],
  ['URL', 'url', 'url', 'url', 'URL'],
  ['xmlHTTPRequest', 'xmlHTTPRequest', 'xml_http_request', 'xml-http-request', 'XmlHTTPRequest'],
  ['IPv4Address', 'iPv4Address', 'i_pv4_address', 'i-pv4-address', 'IPv4Address'],
  ['user_name', 'user_name', 'user_name', 'user-name', 'UserName'],
  ['user-name', 'user-name', 'user_name', 'user-name', 'UserName'],
  ['x', 'x', 'x', 'x', 'X'],
  ['X', 'x', 'x', 'x', 'X'],
  ['aB', 'aB', 'a_b', 'a-b', 'AB'],
  ['line2', 'line2', 'line2', 'line2', 'Line2'],
  ['address1Line', 'address1Line', 'address1_line', 'address1-line', 'Address1Line'],
  ['H264Codec', 'h264Codec', 'h264_codec', 'h264-codec', 'H264Codec'],
  ['sha256', 'sha256', 'sha256', 'sha256', 'Sha256'],
  ['_id', '_id', '_id', '_id', '_Id'],
  ['_Id', '_Id', '_id', '_id', '_Id'],
  ['__v', '__v', '__v', '__v', '__V'],
  ['_createdAt', '_createdAt', '_created_at', '_created-at', '_CreatedAt'],
  ['class_', 'class_', 'class_', 'class_', 'Class_'],
  ['__typeName__', '__typeName__', '__type_name__', '__type-name__', '__TypeName__'],
  ['created_at__gte', 'created_at__gte', 'created_at__gte', 'created-at--gte', 'CreatedAtGte'],
  ['_', '_', '_', '_', '_'],
  ['__', '__', '__', '__', '__'],
];
const columns: readonly NamingPolicyName[] = ['camelCase', 'snake_case', 'kebab-case', 'PascalCase'];
const table = names.flatMap(([name, ...made]) =>
  columns.map((policy, column) => [policy, name, made[column] ?? ''] as const),
);

it.each(table)('%s: %s is %s, when it is read and when it is written', async (propertyNamingPolicy, name, jsonName) => {
  class One extends dto({ [name]: string }) {}
  const context = serializerContext({ request: One, responses: { 200: One }, propertyNamingPolicy });
  const json = JSON.stringify({ [jsonName]: 'v' });
  const read = await context.read(json);
  expect([read, context.write(200, read)]).toEqual([{ [name]: 'v' }, json]);
});

it('a policy is a function, too; it is asked when the middleware is made', async () => {
  const asked: string[] = [];
  class Inner extends dto({ two: int }) {}
  class Outer extends dto({ one: Inner }) {}
  const propertyNamingPolicy = (name: string): string => {
    asked.push(name);
    return `$${name}`;
  };
  const app = express().post('/', bindRequest(Outer, { propertyNamingPolicy }), (req, res) => {
    res.json(req.dto);
  });
  const before = [...asked];
  const body = JSON.stringify({ $one: { $two: 2 } });
  const texts = await Promise.all([1, 2].map(async () => (await ask(app, { json: body })).text));
  expect([texts, new Set(before)]).toEqual([[body, body], new Set(['one', 'two'])]);
});

describe('with a policy', () => {
  class City extends dto({ cityName: string, zipCode: field(string, { jsonPropertyName: 'ZIP' }) }) {}
  class Person extends dto({
    firstName: string,
    homeCity: City,
    allCities: list(City),
    nickName: field(string, { jsonPropertyName: 'nickName', required: false }),
  }) {}
  const snake: BindingOptions = { propertyNamingPolicy: 'snake_case' };
  const city = { city_name: 'X', ZIP: '1' };
  const bound = { cityName: 'X', zipCode: '1' };

  it('nested names are made by it, and jsonPropertyName wins, at every level', async () => {
    expect(
      (
        await bind(
          Person,
          { json: { first_name: 'a', home_city: city, all_cities: [city], nickName: 'b', nick_name: 'c' } },
          snake,
        )
      ).dto,
    ).toEqual({ firstName: 'a', homeCity: bound, allCities: [bound], nickName: 'b' });
  });

  it('failures are reported under the names in the JSON', async () => {
    expect(
      (
        await bind(Person, { json: { home_city: { city_name: 1 }, all_cities: [city, {}], nickName: 2 } }, snake)
      ).errors.map(({ name, pointer }) => [name, pointer]),
    ).toEqual([
      ['home_city.city_name', '/home_city/city_name'],
      ['home_city.ZIP', '/home_city/ZIP'],
      ['all_cities[1].city_name', '/all_cities/1/city_name'],
      ['all_cities[1].ZIP', '/all_cities/1/ZIP'],
      ['nickName', '/nickName'],
      ['first_name', '/first_name'],
    ]);
  });

  it('the whole body, a list and jsonRequired have its names', async () => {
    class Whole extends dto({ home: fromBody(City) }) {}
    class Versioned extends dto({ rowVersion: field(int, { jsonRequired: true }) }) {}
    expect((await bind(Whole, { json: city }, snake)).dto).toEqual({ home: bound });
    expect((await bind(list(City), { json: [city] }, snake)).dto).toEqual([bound]);
    expect((await bind(Versioned, { json: { row_version: 1 } }, snake)).dto).toEqual({ rowVersion: 1 });
    expect((await bind(Versioned, { json: {} }, snake)).errors).toMatchObject([
      { name: 'row_version', pointer: '/row_version' },
    ]);
  });

  it('for the whole application; the policy of an endpoint wins', async () => {
    const configured = configure({ binding: snake });
    const app = express();
    app.post('/app', configured.bindRequest(City), (req, res) => {
      res.json(req.dto);
    });
    app.post('/endpoint', configured.bindRequest(City, { propertyNamingPolicy: 'PascalCase' }), (req, res) => {
      res.json(req.dto);
    });
    expect((await ask(app, { path: '/app', json: city })).body).toEqual(city);
    const renamed = { CityName: 'X', ZIP: '1' };
    expect((await ask(app, { path: '/endpoint', json: renamed })).body).toEqual(renamed);
  });
});

describe('two properties of one JSON name are refused when the middleware is made', () => {
  class BySnake extends dto({ userName: string, user_name: string }) {}
  class ByCamel extends dto({ Name: string, name: string }) {}
  class ByOption extends dto({ a: string, b: field(string, { jsonPropertyName: 'a' }) }) {}
  class ByFunction extends dto({ a: string, b: string }) {}
  class Nested extends dto({ in: list(BySnake) }) {}

  it.each<[string, () => unknown]>([
    [
      'bindRequest: BySnake.userName and BySnake.user_name have the same JSON name, "user_name".',
      () => bindRequest(BySnake, { propertyNamingPolicy: 'snake_case' }),
    ],
    ['ByCamel.Name and ByCamel.name have the same JSON name, "name".', () => bindRequest(ByCamel)],
    [
      'ByFunction.a and ByFunction.b have the same JSON name, "x".',
      () => bindRequest(ByFunction, { propertyNamingPolicy: () => 'x' }),
    ],
    [
      'BySnake.userName and BySnake.user_name have the same JSON name, "user-name".',
      () => bindRequest(Nested, { propertyNamingPolicy: 'kebab-case' }),
    ],
    [
      'responses[201]: ByOption.a and ByOption.b have the same JSON name, "a".',
      () => bindRequest(ByFunction, { responses: { 201: ByOption } }),
    ],
  ])('%s', (message, make) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});

it('an unknown policy is refused when the middleware is made', () => {
  class One extends dto({ a: string }) {}
  expect(() => bindRequest(One, { propertyNamingPolicy: 'SNAKE' as NamingPolicyName })).toThrow(
    /propertyNamingPolicy must be .*"snake_case".*, not "SNAKE"/,
  );
  expect(() => configure({ binding: { propertyNamingPolicy: 1 as unknown as NamingPolicyName } })).toThrow(
    'propertyNamingPolicy',
  );
});
