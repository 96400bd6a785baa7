import express from 'express';
import { bindRequest, configure, dto, field, fromBody, int, list, serializerContext, string } from '../../../lib';
import type { AnyType, BindingOptions, NamingPolicyName } from '../../../lib';
import { ask } from '../../support/ask';
import { outcome } from '../../support/one-endpoint';

/** What each policy makes of the name of a property. */
const policies: readonly NamingPolicyName[] = ['camelCase', 'snake_case', 'kebab-case', 'PascalCase'];

it.each([
  ['customerId', 'customerId customer_id customer-id CustomerId'],
  ['CustomerId', 'customerId customer_id customer-id CustomerId'],
  ['customerID', 'customerID customer_id customer-id CustomerID'],
  ['URLPath', 'urlPath url_path url-path URLPath'],
  ['URL', 'url url url URL'],
  ['xmlHTTPRequest', 'xmlHTTPRequest xml_http_request xml-http-request XmlHTTPRequest'],
  ['IPv4Address', 'iPv4Address i_pv4_address i-pv4-address IPv4Address'],
  ['user_name', 'user_name user_name user-name UserName'],
  ['user-name', 'user-name user_name user-name UserName'],
  ['X', 'x x x X'],
  ['aB', 'aB a_b a-b AB'],
  ['line2', 'line2 line2 line2 Line2'],
  ['address1Line', 'address1Line address1_line address1-line Address1Line'],
  ['H264Codec', 'h264Codec h264_codec h264-codec H264Codec'],
  ['_Id', '_Id _id _id _Id'],
  ['__v', '__v __v __v __V'],
  ['_createdAt', '_createdAt _created_at _created-at _CreatedAt'],
  ['class_', 'class_ class_ class_ Class_'],
  ['__typeName__', '__typeName__ __type_name__ __type-name__ __TypeName__'],
  ['created_at__gte', 'created_at__gte created_at__gte created-at--gte CreatedAtGte'],
  ['__', '__ __ __ __'],
])('%s is %s, when it is read and when it is written', async (name, made) => {
  class One extends dto({ [name]: string }) {}
  for (const [index, propertyNamingPolicy] of policies.entries()) {
    const context = serializerContext({ request: One, responses: { 200: One }, propertyNamingPolicy });
    const json = JSON.stringify({ [made.split(' ')[index] ?? '']: 'v' });
    const read = await context.read(json);
    expect([read, context.write(200, read)]).toEqual([{ [name]: 'v' }, json]);
  }
});

it('a policy is a function, too; it is asked when the middleware is made', async () => {
  const propertyNamingPolicy = jest.fn((name: string) => `$${name}`);
  class Outer extends dto({ one: dto({ two: int }) }) {}
  const app = express().post('/', bindRequest(Outer, { propertyNamingPolicy }), (req, res) => {
    res.json(req.dto);
  });
  expect(new Set(propertyNamingPolicy.mock.calls.flat())).toEqual(new Set(['one', 'two']));
  const body = JSON.stringify({ $one: { $two: 2 } });
  expect((await ask(app, { json: body })).text).toBe(body);
});

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
const people = { first_name: 'a', home_city: city, all_cities: [city], nickName: 'b', nick_name: 'c' };
const missing = (name: string): string => `json ${name}: A value is required.`;

it.each<[string, AnyType, unknown, unknown]>([
  [
    'nested names, where jsonPropertyName wins at every level',
    Person,
    people,
    { firstName: 'a', homeCity: bound, allCities: [bound], nickName: 'b' },
  ],
  [
    'failures',
    Person,
    { home_city: { ZIP: '' }, all_cities: [] },
    [missing('home_city.city_name'), missing('first_name')],
  ],
  ['failures of items', list(City), [city, { ZIP: '1' }], [missing('[1].city_name')]],
  ['the whole body', dto({ home: fromBody(City) }), city, { home: bound }],
  ['a list', list(City), [city], [bound]],
  [
    'jsonRequired',
    dto({ rowVersion: field(int, { jsonRequired: true }) }),
    {},
    ['json row_version: The JSON body must have this value.'],
  ],
])('a policy makes the names of %s', async (_what, Dto, json, expected) => {
  expect(await outcome(Dto, { json }, snake)).toEqual(expected);
});

it('a policy is that of the whole application; that of an endpoint wins', async () => {
  const configured = configure({ binding: snake });
  const app = express();
  app.post('/app', configured.bindRequest(City), (req, res) => void res.json(req.dto));
  const pascal = configured.bindRequest(City, { propertyNamingPolicy: 'PascalCase' });
  app.post('/endpoint', pascal, (req, res) => void res.json(req.dto));
  expect((await ask(app, { path: '/app', json: city })).body).toEqual(city);
  const renamed = { CityName: 'X', ZIP: '1' };
  expect((await ask(app, { path: '/endpoint', json: renamed })).body).toEqual(renamed);
});
