import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import express, { type Express } from 'express';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { apiDocs, bindRequest, dto, field, file, formField, fromHeader, guid, idempotency, int, list } from '../../lib';
import { queryParam, routeParam, string } from '../../lib';
import type { OpenApiOptions } from '../../lib';
import { ask } from '../support/ask';
import { startBrowser } from '../support/browser';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { TemporaryDirectory } from '../support/temporary-directory';

const info = { title: 'Shop', version: '1.0.0' };

class Line extends dto({ sku: string, quantity: int }) {}
class PlaceOrder extends dto({ customerId: routeParam(int), items: field(list(Line)) }) {}

const root = join(__dirname, '../..');
const folder = new TemporaryDirectory();
afterAll(() => folder.remove());

/** Copies the built package to a folder. @returns its `apiDocs`, after a change of the copy. */
function apiDocsIn(name: string, change?: (page: string) => void): typeof apiDocs {
  const installed = join(folder.path, name);
  mkdirSync(installed, { recursive: true });
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  change?.(join(installed, 'dist/openapi/page'));
  return (createRequire(__filename)(join(installed, 'dist')) as { apiDocs: typeof apiDocs }).apiDocs;
}

describe.each(expressVersions)('apiDocs() (%s)', (_version, version) => {
  it('serves the document below any mount point, with the routes that were mounted later', async () => {
    const app = version();
    app.use('/internal/docs', apiDocs(app, { info }));
    app.post('/customers/:customerId/orders', bindRequest(PlaceOrder));
    const { status, body } = await ask(app, { method: 'GET', path: '/internal/docs/openapi.json' });
    expect([status, Object.keys((body as { paths: object }).paths)]).toEqual([200, ['/customers/{customerId}/orders']]);
  });

  it.each<[method: string, path: string, status: number, header: string, value: string]>([
    ['GET', '/docs', 308, 'location', './docs/'],
    ['GET', '/docs?x=1/2', 308, 'location', './docs/?x=1/2'],
    ['GET', '/docs/', 200, 'content-type', 'text/html; charset=utf-8'],
    ['HEAD', '/docs/page.css', 200, 'content-type', 'text/css; charset=utf-8'],
    ['GET', '/docs/swagger-ui.css', 200, 'x-content-type-options', 'nosniff'],
    ['GET', '/docs/../package.json', 404, 'content-type', 'text/html; charset=utf-8'],
    ['GET', '/docs/absolute-path.js', 404, 'content-type', 'text/html; charset=utf-8'],
    ['POST', '/docs/', 404, 'content-type', 'text/html; charset=utf-8'],
  ])('%s %s: %i', async (method, path, status, header, value) => {
    const app = version();
    app.use('/docs', apiDocs(app, { info }));
    const answer = await ask(app, { method, path });
    expect([answer.status, answer.headers[header]?.toLowerCase()]).toEqual([status, value]);
  });
});

it('apiDocs() serves its files from a folder whose path has a dot', async () => {
  const docs = apiDocsIn('node_modules/.pnpm/bindonce/node_modules/bindonce');
  const answers = expressVersions.map(async ([, version]) => {
    const app = version();
    app.use('/docs', docs(app, { info }));
    const paths = ['/docs/', '/docs/page.js', '/docs/swagger-ui.css', '/docs/.page.js'];
    return Promise.all(paths.map(async path => (await ask(app, { method: 'GET', path })).status));
  });
  expect(await Promise.all(answers)).toEqual([
    [200, 200, 200, 404],
    [200, 200, 200, 404],
  ]);
});

it('apiDocs() says so when it is called, if it has been bundled, and its files stay behind', () => {
  const docs = apiDocsIn('bundled', page => {
    rmSync(join(page, 'files'), { recursive: true });
  });
  expect(() => docs(express(), { info })).toThrow(
    'apiDocs: its files are not beside the code of bindonce, so it has been bundled. Keep `bindonce` and',
  );
});

it.each<[object[], string]>([
  [[{ url: 'https://api.example.com/v1' }, { url: '/v2' }], "'self' https://api.example.com"],
  // What is not of the web, or has variables, is no address.
  [[{ url: 'mailto:a@b.c' }, { url: 'https://{host}/' }], "'self'"],
])('apiDocs() allows requests to the servers of the API, and to nothing else: %j', async (servers, sources) => {
  const app = express();
  app.use('/docs', apiDocs(app, { info, servers }));
  const { headers } = await ask(app, { method: 'GET', path: '/docs/' });
  expect(headers['content-security-policy']).toMatch(/default-src 'none'/);
  expect(headers['content-security-policy']).toContain(`connect-src ${sources};`);
});

const noRouter = 'must be an Express application or router';
it.each<[string, unknown, unknown, string]>([
  ['no options', express(), undefined, 'apiDocs: the options are missing. Write apiDocs(app, { info: { title: '],
  ['an unknown option', express(), { titel: 'Shop' }, 'apiDocs: there is no option "titel"'],
  ['a scheme that is not defined', express(), { info, securitySchemes: {}, security: [{ key: [] }] }, 'openapi: '],
  ['no application', { info }, { info }, `apiDocs: the first argument ${noRouter}, not an object`],
  ['no router in mounts', express(), { info, mounts: { '/a': null } }, `apiDocs: /a in the option mounts ${noRouter}`],
])('apiDocs() refuses %s when it is made', (_what, app, options, message) => {
  expect(() => apiDocs(app as never, options as OpenApiOptions)).toThrow(message);
});

describe('the page of apiDocs()', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1_280, height: 900 } });
  });
  afterEach(() => page.close());

  /** Serves the application, and opens its page. */
  async function open(app: Express): Promise<string> {
    const { url } = await serve(app);
    await page.goto(`${url}/docs`);
    await page.locator('.opblock').first().waitFor();
    return url;
  }

  async function executeAll(filled = 'new'): Promise<void> {
    for (const operation of await page.locator('.opblock').all()) {
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Try it out' }).click();
      for (const input of await operation.locator('input[type="text"]').all())
        if ((await input.inputValue()) !== 'a new UUID') await input.fill(filled);
      await operation.getByRole('button', { name: 'Execute' }).click();
      await operation.locator('.live-responses-table').waitFor();
    }
  }

  /** Opens the page of an application, executes all, and returns what arrived: method, path, and headers of keys. */
  async function executed(mount: (app: Express) => unknown, filled?: string, openapi: '3.1' | '3.2' = '3.1') {
    const app = express();
    const sent: string[] = [];
    app.use('/docs', apiDocs(app, { info, openapi }));
    app.use((req, res) => {
      const keys = Object.keys(req.headers).filter(name => name.endsWith('-key'));
      sent.push([req.method, req.path, ...keys.map(name => `${name}=${req.get(name)}`)].join(' '));
      res.json(null);
    });
    mount(app);
    await open(app);
    await executeAll(filled);
    return sent;
  }

  it('sends the key of the operation that is executed, where the path of another one fits, too', async () => {
    const noted = bindRequest(dto({ note: queryParam(string) }));
    const sent = await executed(app => {
      app.post('/:tenant', idempotency({ headerName: 'Tenant-Key' }));
      app.post('/orders/new', idempotency({ headerName: 'Order-Key' }));
      app.post('/orders/:kind', idempotency({ headerName: 'Kind-Key' }));
      app.post('/plain/do', noted).get('/orders/new', noted);
    });
    expect(sent.map(line => line.replace(/=.*/, ''))).toEqual([
      'POST /new tenant-key',
      'POST /orders/new order-key',
      'GET /orders/new',
      'POST /orders/new kind-key',
      'POST /plain/do',
    ]);
  });

  it('makes UUIDs, asks for a key where the API refuses those, and sends none where it needs none', async () => {
    const keys = await executed(app => {
      app.post('/a', idempotency(), bindRequest(dto({ key: fromHeader(guid, { name: 'Idempotency-Key' }) })));
      app.post('/b', idempotency({ keyPattern: /^\d+$/, swaggerExampleGenerator: () => 1001 }));
      app.post('/c', idempotency({ swaggerHeaderType: int }));
    }, '1001');
    const uuid = /^POST \/a idempotency-key=[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
    const typed = ['b', 'c'].map(name => `POST /${name} idempotency-key=1001`);
    expect(keys).toEqual([expect.stringMatching(uuid), ...typed]);
    expect(await page.locator('#answer').innerText()).toContain('key 1001');
    const optional = idempotency({ keyPattern: /^\d+$/, whenKeyMissing: 'run' });
    expect(await executed(app => app.post('/d', optional), '')).toEqual(['POST /d']);
    expect(await page.locator('#sent').isHidden()).toBe(true);
  });

  it('shows operations of OpenAPI 3.2, and sends a QUERY with a key', async () => {
    const query = (app: Express) =>
      (app as unknown as { query: Express['post'] }).query('/orders', idempotency({ headerName: 'X-Key' }));
    expect(await executed(query, 'new', '3.2')).toEqual([expect.stringMatching(/^QUERY \/orders x-key=/)]);
    expect(await page.locator('#sent').isVisible()).toBe(true);
  });

  /** Waits until the page says so of the last request. @returns its key. */
  async function answered(outcome: string): Promise<string | undefined> {
    const answer = page.locator('#answer', { hasText: outcome });
    await answer.waitFor();
    return /key (.*)/.exec(await answer.innerText())?.[1];
  }

  /** Opens the page of a shop, and says what went wrong on it, and which other hosts it asked. */
  async function openShop() {
    const app = express();
    const orders: unknown[] = [];
    const guard = idempotency({ headerName: 'X-Key', replayedHeader: 'X-Again' });
    app.post('/customers/:customerId/orders', guard, bindRequest(PlaceOrder), (req, res) => {
      res.status(201).json({ order: orders.push(req.dto) });
    });
    app.use('/docs', apiDocs(app, { info }));
    const faults: string[] = [];
    page.on('request', request => {
      if (!/^(http:\/\/(127\.0\.0\.1|localhost):\d+\/|data:)/.test(request.url())) faults.push(request.url());
    });
    page.on('console', message => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('pageerror', error => faults.push(error.message));
    await open(app);
    return { orders, faults };
  }

  it('sends each request with a new key, and again with the same one, and asks no other host', async () => {
    const { orders, faults } = await openShop();
    expect(await page.title()).toBe('Shop');
    await page.locator('.opblock-summary-control').first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.locator('input[placeholder="customerId"]').fill('7');
    const execute = page.getByRole('button', { name: 'Execute' });
    await execute.click();
    const first = await answered('201, first response');
    await page.getByRole('button', { name: 'Send again with the same key' }).click();
    const replayed = await answered('201, replayed');
    await execute.click();
    const next = await answered('201, first response');
    expect([first === replayed, replayed === next]).toEqual([true, false]);
    expect(orders).toEqual(Array(2).fill({ customerId: 7, items: [{ sku: 'string', quantity: 0 }] }));
    expect(faults).toEqual([]);
  });

  it('sends a form with a file again with the same key', async () => {
    const app = express();
    const sizes: number[] = [];
    const Upload = dto({ title: formField(string), scan: file });
    app.post('/scans', idempotency(), bindRequest(Upload, { allowFormData: true }), (req, res) => {
      res.status(201).json({ scan: sizes.push(req.dto.scan.size) });
    });
    app.use('/docs', apiDocs(app, { info }));
    await open(app);
    await page.locator('.opblock-summary-control').first().click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.locator('input[type="file"]').setInputFiles({
      name: 'a.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('hello'),
    });
    await page.getByRole('button', { name: 'Execute' }).click();
    await answered('201, first response');
    await page.getByRole('button', { name: 'Send again with the same key' }).click();
    await answered('201, replayed');
    expect(sizes).toEqual([5]);
  });

  it('is not wider than a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await openShop();
    await executeAll('7');
    await answered('201, first response');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect((await page.locator('#sent').boundingBox())?.height).toBeLessThan(740 / 5);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('#sent').isVisible()).toBe(false);
  });

  it('makes a short, valid example of a text with a format and a pattern', async () => {
    const app = express();
    const formats = { mail: z.email(), at: z.iso.datetime(), day: z.iso.date(), id: z.uuid(), ip: z.ipv6() };
    const Sent = dto({ ...formats, own: string.with({ format: 'email' }) });
    app.post('/', bindRequest(Sent), (_req, res) => void res.json('taken'));
    app.use('/docs', apiDocs(app, { info }));
    await open(app);
    await executeAll();
    expect((await page.locator('textarea.body-param__text').inputValue()).length).toBeLessThan(400);
    expect(await page.locator('.live-responses-table').innerText()).toContain('taken');
  });
});
