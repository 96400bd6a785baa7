import { join } from 'node:path';
import type { OpenApiDocument } from '../../lib';
import { ExchangeCheck, type Sent } from '../support/exchange-check';
import { NodeProcess } from '../support/servers/node-process';

const script = join(__dirname, '../../demo-app/dist/server.js');
const orders = '/customers/42/orders';
const documents = '/customers/42/documents';

const key = (value: string): Sent['headers'] => ({ 'Idempotency-Key': value });
const order = (item: object): string =>
  JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5, ...item }] });

function form(values: Readonly<Record<string, string | Blob>>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, value);
  return body;
}

/** A request, the status of its answer, and what the document refuses in the request. */
type Step = readonly [what: string, sent: Sent, status: number, refused: readonly unknown[]];

const steps: readonly Step[] = [
  ['an order', { path: orders, headers: key('a'), body: order({}) }, 201, []],
  ['its duplicate', { path: orders, headers: key('a'), body: order({}) }, 201, []],
  [
    'all options',
    {
      path: `${orders}?rush=true`,
      headers: { ...key('b'), 'X-Channel': 'phone' },
      body: order({ unitPrice: '4.50' }).replace('{', '{"note":"gift",'),
    },
    201,
    [],
  ],
  [
    'wrong values',
    { path: `${orders}?rush=perhaps`, headers: key('c'), body: order({ quantity: 'two', sku: undefined }) },
    400,
    [
      'query rush: must be boolean',
      "body/items/0: must have required property 'sku'",
      'body/items/0/quantity: must be integer',
    ],
  ],
  ['no key', { path: orders, body: order({}) }, 400, ['header Idempotency-Key: required']],
  [
    'a blank key',
    { path: orders, headers: key(''), body: order({}) },
    400,
    [expect.stringMatching(/^header Idempotency-Key/)],
  ],
  ['no body', { method: 'POST', path: orders, headers: key('d') }, 400, ['body: required']],
  [
    'a form where JSON is expected',
    { path: orders, headers: key('e'), body: form({ items: '[]' }) },
    415,
    ['body: multipart/form-data is not described'],
  ],
  [
    'an upload',
    { path: documents, headers: key('f'), body: form({ title: 'Invoice', file: new Blob(['x']) }) },
    201,
    [],
  ],
  [
    'an upload without a file',
    { path: documents, headers: key('g'), body: form({ title: 'x' }) },
    400,
    ["body: must have required property 'file'"],
  ],
  [
    'an upload that is too large',
    { path: documents, headers: key('i'), body: form({ title: 'x', file: new Blob([new Uint8Array(11_000_000)]) }) },
    413,
    [],
  ],
  [
    'JSON where a form is expected',
    { path: documents, headers: key('h'), body: '{"title":"x"}' },
    400,
    ['body: application/json is not described'],
  ],
];

describe('the document of the demo', () => {
  let shop: NodeProcess;
  let document: OpenApiDocument;

  beforeAll(async () => {
    shop = await NodeProcess.start(script, { REDIS_URL: '' });
    document = (await (await fetch(`${shop.url}/docs/openapi.json`)).json()) as OpenApiDocument;
  });
  afterAll(() => shop.kill());

  it('stands beside the page for operators', async () => {
    expect((await fetch(`${shop.url}/operate/keys`)).status).toBe(200);
  });

  it.each(steps)('fits the answer to %s', async (_what, sent, status, refused) => {
    expect(await new ExchangeCheck(document).send(shop.url, sent)).toEqual({ status, request: refused, answer: [] });
  });

  /** The faults that the steps find in a document with a mistake. */
  async function faultsWith(mistake: (text: string) => string): Promise<string[]> {
    const text = JSON.stringify(document);
    const changed = mistake(text);
    expect(changed).not.toBe(text);
    const check = new ExchangeCheck(JSON.parse(changed) as OpenApiDocument);
    const faults: string[] = [];
    for (const [what, sent, , refused] of steps) {
      const { status, request, answer } = await check.send(shop.url, sent);
      faults.push(...answer.map(one => `${what}: ${one}`));
      if (status === 400 && refused.length > 0 && request.length === 0) faults.push(`${what}: refused`);
      if (status < 400) faults.push(...request.map(one => `${what}: ${one}`));
    }
    return faults;
  }

  it.each<[mistake: string, change: (text: string) => string, fault: string]>([
    [
      'a property of another type',
      text => text.replace('"status":{"type":"integer"}', '"status":{"type":"string"}'),
      'no key: status 400/status: must be string',
    ],
    [
      'a path parameter that is missing',
      text => text.replaceAll('"in":"path"', '"in":"cookie"'),
      'an order: path customerId: not described',
    ],
    [
      'a parameter that need not be sent',
      text => text.replaceAll('"in":"header","required":true', '"in":"header","required":false'),
      'no key: refused',
    ],
    [
      'other statuses',
      text => text.replaceAll('"default":{"desc', '"299":{"desc'),
      'an upload that is too large: status 413 is not described',
    ],
    [
      'another content type',
      text => text.replaceAll('application/problem+json', 'application/json'),
      'no key: status 400: application/problem+json is not described',
    ],
  ])('would not fit with %s', async (_mistake, change, fault) => {
    expect(await faultsWith(change)).toContain(fault);
  });

  it('would not compile with a reference to nothing', async () => {
    await expect(faultsWith(text => text.replaceAll('schemas/Problem"', 'schemas/Probelm"'))).rejects.toThrow(
      "can't resolve reference #/components/schemas/Probelm",
    );
  });
});
