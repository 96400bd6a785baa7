import express from 'express';
import { z } from 'zod';
import { bindRequest, configure, dto, field, formField, fromForm, fromQuery, int, list, oneOf } from '../../../lib';
import { optional, queryParam, record, string } from '../../../lib';
import type { AnyType } from '../../../lib';
import { documentOf } from '../../support/described';
import { ask, type Sent } from '../../support/ask';
import { outcome } from '../../support/one-endpoint';

class City extends dto({
  name: string,
  zip: field(optional(string), { jsonPropertyName: 'post_code', dontBind: ['query'] }),
}) {}
class Person extends dto({
  name: string,
  city: optional(City),
  friends: field(list(City), { default: [] }),
  page: queryParam(int, { default: 1 }),
  theme: field(optional(string), { bindFrom: 'ui.theme' }),
}) {}
class Search extends dto({
  person: fromQuery(dto({ city: optional(City), cities: list(City), data: optional(z.any()) })),
}) {}
class Form extends dto({ form: fromForm(dto({ city: City })) }) {}
class Title extends dto({ title: formField(string) }) {}
class Cities extends dto({ cities: record(City) }) {}
const pay = oneOf('kind', { card: dto({ number: string }), cash: dto({}) });
class Pay extends dto({ pay }) {}

const person = { name: 'a', city: { name: 'b', zip: 1, post_code: '1' }, friends: [{ Name: 'c', name: 'd' }] };

it.each<[string, AnyType, Sent, readonly string[]]>([
  ['JSON', Person, { json: { name: 'a', nam: 1, page: 2 } }, ['json nam', 'json page']],
  ['nested JSON, whose names are exact', Person, { json: person }, ['json city.zip', 'json friends[0].Name']],
  ['a list', list(City), { json: [{ name: 'b' }, { name: 'c', x: 1 }] }, ['json [1].x']],
  ['the values of a record', Cities, { json: { cities: { a: { name: 'b', x: 2 } } } }, ['json cities.a.x']],
  ['the named branch', Pay, { json: { pay: { kind: 'card', number: '1', cash: 1 } } }, ['json pay.cash']],
  ['the named branch of a query', Pay, { path: '/?pay[kind]=cash&pay[x]=1' }, ['query pay[x]']],
  ['a query of a dto that takes none', list(City), { path: '/?x=1', json: [] }, ['query x']],
  [
    'a query',
    Person,
    { path: '/?NAME=a&page=2&pgae=3&theme=x&ui.theme=y&ui.x=1', json: {} },
    ['query pgae', 'query theme', 'query ui.x'],
  ],
  [
    'names that are not read there',
    Person,
    { path: '/?name=a&city.name=b&city.x=1&friends[]={"name":"c"}&page[]=1' },
    ['query city.x', 'query page[]'],
  ],
  ['a form', Person, { form: 'name=a&Other=1&x[y]=2' }, ['form Other', 'form x[y]']],
  ['JSON in a form', Person, { form: 'name=a&city={"name":"b","x":1}' }, ['form city.x']],
  ['a file', Title, { multipart: [['title', 'a'], ['doc', new File(['x'], 'x.txt')]] }, ['form doc']], // prettier-ignore
  ['fromForm', Form, { form: 'city.name=a&city.x=1&y=2' }, ['form city.x', 'form y']],
  [
    'fromQuery, but for the names of a schema',
    Search,
    { path: '/?city[name]=a&city[zip]=1&cities[3].name=b&cities[3].x=c&data.a.b=1&data[]=2' },
    ['query city[zip]', 'query cities[3].x'],
  ],
  ['beside other failures', Person, { json: { nam: 1 } }, ['json nam', 'json name: A value is required.']],
  ['a wrong tag, which is one failure', Pay, { json: { pay: { kind: 'x', y: 1 } } }, [expect.stringContaining('kind')]],
  ['nothing in a request without such names', Person, { path: '/7?page=1', json: { name: 'a' } }, []],
])('unknownNames refuses in %s', async (_source, Dto, sent, expected) => {
  const refused = await outcome(Dto, sent, { route: '/{:id}', unknownNames: 'refuse' });
  const worded = Array.isArray(refused)
    ? refused.map(one => String(one).replace(/: No property takes this.*/, ''))
    : [];
  expect(worded).toEqual(expected);
  expect(String(await outcome(Dto, sent, { route: '/{:id}' }))).not.toContain('No property takes');
});

it('one value that is read without a dto leaves the other names alone', async () => {
  const { queryValue } = configure({ binding: { unknownNames: 'refuse' } });
  const app = express().post('/', (req, res) => {
    res.json(queryValue(req, 'page', int));
  });
  expect((await ask(app, { path: '/?page=2&size=3' })).text).toBe('2');
});

it('the API description says that JSON has no other names, of that endpoint only', () => {
  const app = express();
  app.post('/closed', bindRequest(dto({ city: City }), { unknownNames: 'refuse' }), () => undefined);
  app.post('/open', bindRequest(dto({ city: City })), () => undefined);
  const { paths, components } = JSON.parse(JSON.stringify(documentOf(app))) as {
    paths: Record<string, { post: { requestBody: { content: Record<string, { schema: object }> } } }>;
    components: { schemas: Record<string, object> };
  };
  const body = (path: string) => paths[path]?.post.requestBody.content['application/json']?.schema;
  expect(body('/closed')).toMatchObject({ additionalProperties: false });
  expect(body('/open')).not.toHaveProperty('additionalProperties');
  expect(components.schemas).toMatchObject({ City: { additionalProperties: false } });
  expect(components.schemas['City2']).not.toHaveProperty('additionalProperties');
});
