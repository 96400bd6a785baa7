import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  configure,
  dto,
  field,
  idempotency,
  int,
  list,
  optional,
  string,
  valueParserFor,
  type BindingOptions,
  type Configuration,
  type IdempotencyOptions,
  type PropertyType,
} from '../lib';
import { send } from './support/listen';
import { expressVersions } from './support/express-versions';
import { serve } from './support/serve';
import { keyed } from './support/replays';

const handler: RequestHandler = (_req, res) => void res.send('x');

describe.each(expressVersions)('configure() on %s', (_version, express) => {
  it('makes middlewares with its defaults, over which an endpoint wins', async () => {
    const { idempotency } = configure({
      idempotency: { headerName: 'X-Key', replayedHeader: 'X-Again', addHeaderToResponse: false },
    });
    const { url } = await serve(
      express()
        .post('/a', idempotency(), handler)
        .post('/b', idempotency({ replayedHeader: false }), handler)
        .post('/c', idempotency({ headerName: undefined }), handler),
    );
    for (const path of ['/a', '/b', '/c'])
      expect((await send(url + path, { headers: { 'X-Key': 'k' } })).status).toBe(200);
    expect((await send(`${url}/a`, { headers: { 'X-Key': 'k' } })).headers['x-again']).toBe('true');
    expect((await send(`${url}/b`, { headers: { 'X-Key': 'k' } })).headers).not.toHaveProperty('x-again');
    expect((await send(`${url}/a`, { headers: keyed('k') })).status).toBe(400);
  });

  it('has no state that another configuration would see', async () => {
    const one = configure({ idempotency: { headerName: 'X-One' } });
    const other = configure({ idempotency: { headerName: 'X-Other' } });
    const { url } = await serve(
      express()
        .post('/one', one.idempotency(), handler)
        .post('/other', other.idempotency(), handler)
        .post('/none', configure().idempotency(), handler),
    );
    const statusOf = async (path: string, name: string) =>
      (await send(url + path, { headers: { [name]: 'k' } })).status;
    expect([await statusOf('/one', 'X-One'), await statusOf('/one', 'X-Other')]).toEqual([200, 400]);
    expect([await statusOf('/other', 'X-Other'), await statusOf('/none', 'X-One')]).toEqual([200, 400]);
    expect(await statusOf('/none', 'Idempotency-Key')).toBe(200);
  });
});

describe('configure()', () => {
  it.each<[unknown, string]>([
    [{ idempotecy: {} }, 'configure: there is no option "idempotecy"; did you mean "idempotency"?'],
    [{ onProblem: true }, 'configure: onProblem must be a function, not true'],
    [{ idempotency: 1 }, 'configure: idempotency must be an object, not 1'],
    [{ binding: null }, 'configure: binding must be an object, not null'],
    [{ idempotency: { headerNam: 'x' } }, 'idempotency: there is no option "headerNam"; did you mean "headerName"?'],
    [null, 'configure: options must be an object, not null'],
  ])('refuses %j', (configuration, message) => {
    expect(() => configure(configuration as Configuration)).toThrow(new TypeError(message));
  });

  it('refuses the mistakes of an endpoint when its middleware is made', () => {
    expect(() => configure().idempotency({ waitTimeout: 0 })).toThrow(TypeError);
    expect(() => configure().idempotency({ wait: 1 } as IdempotencyOptions)).toThrow(TypeError);
    expect(() => configure().idempotency(null as never)).toThrow('idempotency: options must be an object, not null');
  });

  it.each<[string, unknown, RegExp]>([
    ['an empty object', {}, /^idempotency: swaggerHeaderType: an object is not a type that values can be bound to\./],
    ['a declaration', field(int), /^idempotency: swaggerHeaderType: a declaration such as field\(int\) is not a type;/],
  ])('refuses %s as the type of the key, before a document is made', (_what, type, message) => {
    const swaggerHeaderType = type as PropertyType;
    expect(() => idempotency({ swaggerHeaderType })).toThrow(message);
    expect(() => configure({ idempotency: { swaggerHeaderType } })).toThrow(message);
    expect(() => configure().idempotency({ swaggerHeaderType })).toThrow(message);
  });
});

describe('options that are changed once they are given', () => {
  class Tags extends dto({ tags: list(string), price: optional(int) }) {}
  const tags = (count: number): string => JSON.stringify({ tags: Array.from({ length: count }, () => 'x') });

  it.each<[string, (options: IdempotencyOptions) => () => RequestHandler]>([
    [
      'idempotency()',
      options => {
        const guard = idempotency(options);
        return () => guard;
      },
    ],
    ['configure()', options => configure({ idempotency: options }).idempotency],
  ])('to %s have no effect', async (_where, make) => {
    const additionalHeaders = ['X-A'];
    const methods = ['POST'];
    const options: IdempotencyOptions = { additionalHeaders, methods, headerName: 'X-Key' };
    const made = make(options);
    additionalHeaders.pop();
    methods.push('PUT');
    options.headerName = 'X-Other';
    const { url } = await serve(express().all('/', made(), handler));
    const ask = (method: string, headers: Record<string, string>) => send(url, { method, headers });
    expect((await ask('POST', { 'X-Key': 'changed', 'X-A': '1' })).status).toBe(200);
    expect((await ask('POST', { 'X-Key': 'changed', 'X-A': '2' })).headers).not.toHaveProperty('idempotent-replayed');
    expect((await ask('PUT', {})).status).toBe(200);
  });

  it.each<[string, (options: BindingOptions) => () => RequestHandler]>([
    [
      'bindRequest()',
      options => {
        const made = bindRequest(Tags, options);
        return () => made;
      },
    ],
    [
      'configure()',
      options => {
        const { bindRequest } = configure({ binding: options });
        return () => bindRequest(Tags);
      },
    ],
  ])('to %s have no effect', async (_where, make) => {
    const limits = { items: 2 };
    const valueParsers = [valueParserFor(int, () => ({ success: true as const, value: 7 }))];
    const made = make({ limits, valueParsers });
    limits.items = 3;
    valueParsers.pop();
    const { url } = await serve(express().post('/', made(), (req, res) => void res.json(req.dto)));
    const headers = { 'Content-Type': 'application/json' };
    expect((await send(url, { headers, body: tags(2) })).status).toBe(200);
    expect((await send(url, { headers, body: tags(3) })).status).toBe(400);
    expect((await send(`${url}?price=1`, { headers, body: tags(2) })).text).toContain('"price":7');
  });
});
