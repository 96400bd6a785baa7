import { join } from 'node:path';
import type { OpenApiDocument } from '../../lib';
import { ExchangeCheck, type Sent } from '../support/exchange-check';
import { NodeProcess } from '../support/servers/node-process';

const script = join(__dirname, '../../demo-app/dist/server.js');

const lines = (item: object): string =>
  JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5, ...item }] });
function form(values: Readonly<Record<string, string | Blob>>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, value);
  return body;
}
/** The key of a step; none, or another one, where it is said. */
let keys = 0;
const keyed = (more: Record<string, string> = {}): Sent['headers'] => ({ 'Idempotency-Key': `k${keys++}`, ...more });
const order = (body: Sent['body'], more: Partial<Sent> = {}): Sent => ({
  method: 'POST',
  path: '/customers/42/orders',
  headers: keyed(),
  body,
  ...more,
});
const upload = (body: Sent['body']): Sent => ({ path: '/customers/42/documents', headers: keyed(), body });
const again = order(lines({}));
const long = new Blob([new Uint8Array(11_000_000)]);

/** A request, the status of its answer, and what the document refuses in the request. */
const steps: [what: string, sent: Sent, status: number, refused?: unknown[]][] = [
  ['an order', again, 201],
  ['its duplicate', again, 201],
  [
    'all options',
    order(lines({ unitPrice: '4.50' }).replace('{', '{"note":"gift",'), {
      path: '/customers/42/orders?rush=true',
      headers: keyed({ 'X-Channel': 'phone' }),
    }),
    201,
  ],
  [
    'wrong values',
    order(lines({ quantity: 'two', sku: undefined }), { path: '/customers/42/orders?rush=perhaps' }),
    400,
    [
      'query rush: must be boolean',
      "body/items/0: must have required property 'sku'",
      'body/items/0/quantity: must be integer',
    ],
  ],
  ['no key', order(lines({}), { headers: {} }), 400, ['header Idempotency-Key: required']],
  [
    'a blank key',
    order(lines({}), { headers: { 'Idempotency-Key': '' } }),
    400,
    [expect.stringMatching(/^header Idempotency-Key/)],
  ],
  ['no body', order(undefined), 400, ['body: required']],
  ['a form for JSON', order(form({ items: '[]' })), 415, ['body: multipart/form-data is not described']],
  ['an upload', upload(form({ title: 'Invoice', file: new Blob(['x']) })), 201],
  ['an upload without a file', upload(form({ title: 'x' })), 400, ["body: must have required property 'file'"]],
  ['an upload that is too large', upload(form({ title: 'x', file: long })), 413],
  ['JSON for a form', upload('{"title":"x"}'), 400, ['body: application/json is not described']],
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

  it.each(steps)('fits the answer to %s', async (_what, ...[sent, status, refused = []]) => {
    expect(await new ExchangeCheck(document).send(shop.url, sent)).toEqual({ status, request: refused, answer: [] });
  });

  /** The faults that the steps find in a document in which a text is another. */
  async function faultsWith(text: string, mistake: string): Promise<string[]> {
    const changed = JSON.stringify(document).replaceAll(text, mistake);
    expect(changed).toContain(mistake);
    const check = new ExchangeCheck(JSON.parse(changed) as OpenApiDocument);
    const faults: string[] = [];
    for (const [what, sent, , refused = []] of steps) {
      const { status, request, answer } = await check.send(shop.url, sent);
      faults.push(...answer.map(one => `${what}: ${one}`));
      if (status === 400 && refused.length > 0 && request.length === 0) faults.push(`${what}: refused`);
      if (status < 400) faults.push(...request.map(one => `${what}: ${one}`));
    }
    return faults;
  }

  it.each([
    ['"status":{"type":"integer"}', '"status":{"type":"string"}', 'no key: status 400/status: must be string'],
    ['"in":"path"', '"in":"cookie"', 'an order: path customerId: not described'],
    ['"in":"header","required":true', '"in":"header","required":false', 'no key: refused'],
    ['"default":{"desc', '"299":{"desc', 'an upload that is too large: status 413 is not described'],
    ['application/problem+json', 'application/json', 'no key: status 400: application/problem+json is not described'],
  ])('would not fit with another %s: %s', async (text, mistake, fault) => {
    expect(await faultsWith(text, mistake)).toContain(fault);
  });

  it('would not compile with a reference to nothing', async () => {
    await expect(faultsWith('schemas/Problem"', 'schemas/Probelm"')).rejects.toThrow(
      "can't resolve reference #/components/schemas/Probelm",
    );
  });
});
