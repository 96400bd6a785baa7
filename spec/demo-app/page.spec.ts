import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { startBrowser } from '../support/browser';
import { send } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';
import { RedisServer } from '../support/servers/redis-server';
import { TemporaryDirectory } from '../support/temporary-directory';
import { ShopPage } from './shop-page';

const script = join(__dirname, '../../demo-app/dist/server.js');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
let shop: NodeProcess;
let customers = 0;
const opened: ShopPage[] = [];

/** Opens the page; if not told otherwise, as a customer who has not ordered before. */
async function open(customer = `customer${++customers}`, options?: BrowserContextOptions): Promise<ShopPage> {
  const page = await ShopPage.open(browser, shop, customer, options);
  opened.push(page);
  return page;
}

/**
 * Lets something go wrong with an order. If the shop or the page stands still for the 600 ms of a payment, the answer is
 * there before that: then the next customer orders.
 */
async function orderWith(
  trouble: (page: ShopPage) => Promise<void>,
  hasHappened: (page: ShopPage) => Promise<boolean>,
): Promise<ShopPage> {
  const page = await open();
  await trouble(page);
  return (await hasHappened(page)) ? page : orderWith(trouble, hasHappened);
}

/** Orders when the process that takes the payment crashes. */
const orderWithCrash = (): Promise<ShopPage> =>
  orderWith(
    page => page.button('Crash the server').click(),
    async page => {
      await page.says(/^Placed once/);
      return (await page.requests(1)).some(text => text.includes('was killed'));
    },
  );

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
afterEach(async () => {
  const pages = opened.splice(0);
  await Promise.all(pages.map(page => page.close()));
  expect(pages.flatMap(({ faults }) => faults)).toEqual([]);
});

describe('the page of the demo in memory', () => {
  beforeAll(async () => {
    shop = await NodeProcess.start(script, { REDIS_URL: '', SHOP_FILE: ':memory:' });
  });
  afterAll(() => shop.kill());

  it('is for browsers: curl gets text', async () => {
    const html = await send(shop.url, { method: 'GET', headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect(html.headers['content-type']).toMatch(/^text\/html/);
    expect(html.headers['content-security-policy']).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    const text = await send(shop.url, { method: 'GET', headers: { Accept: '*/*' } });
    expect(text.headers['content-type']).toMatch(/^text\/plain/);
  });

  it.each<[string, (page: ShopPage) => Promise<void>]>([
    ['a double-click', page => page.button(/^Place order/).evaluate(clickTwice)],
    ['a connection lost in mid-request', page => page.button('Lose the connection').click()],
    ['a reload in mid-request', page => page.button('Reload the page').click()],
  ])('%s gives one order; without bindonce, two', async (_, doTwice) => {
    const page = await orderWith(doTwice, one => one.saysOfTwo(/^Placed once, with 2/));
    // Either of the two may reach the server first: a browser sends them over two connections.
    expect((await page.requests(2)).sort()).toEqual([
      expect.stringMatching(/^Executed by process/),
      expect.stringMatching(/^(Waited|Replayed)/),
    ]);
    expect(await page.placed()).toHaveLength(1);

    const doTwiceWithout = async (one: ShopPage): Promise<void> => {
      await one.withoutBindonce();
      await doTwice(one);
    };
    const other = await orderWith(doTwiceWithout, one => one.saysOfTwo(/^Charged twice/));
    expect(await other.requests(2)).toEqual(Array(2).fill(expect.stringMatching(/^Executed by process/)));
    expect(await other.placed()).toHaveLength(2);
    expect(await other.marks()).toEqual(['Charged twice', 'Charged twice']);
  });

  it.each<[string, (page: ShopPage, isOffline: boolean) => Promise<void>]>([
    ['its own switch', (page, isOffline) => page.page.getByRole('switch', { name: 'Offline' }).setChecked(isOffline)],
    ['the browser', (page, isOffline) => page.page.context().setOffline(isOffline)],
  ])('offline by %s and back gives one order', async (_, switchOffline) => {
    const page = await open();
    await switchOffline(page, true);
    await page.button(/^Place order/).click();
    await page.says(/^Offline/);
    expect(await page.placed()).toEqual([]);
    await switchOffline(page, false);
    await page.says(/^Placed once/);
    expect((await page.requests(2)).sort()).toEqual([
      expect.stringMatching(/^Executed by process/),
      expect.stringMatching(/^Not sent/),
    ]);
    expect(await page.placed()).toHaveLength(1);
  });

  it('a second tab is another customer, whose orders the first one sees as they are placed', async () => {
    const { page } = await open();
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Open another tab as Ben' }).click(),
    ]);
    expect(await other.getByRole('heading', { name: 'Order as Ben' }).innerText()).toBe('Order as Ben');
    await other.getByRole('button', { name: /^Place order/ }).click();
    await page.locator('#orders', { hasText: 'Ben' }).waitFor();
    await page.locator('#timeline', { hasText: 'Ben' }).waitFor();
  });

  it('an order that curl places is one request, which ends', async () => {
    const { page } = await open();
    const body = JSON.stringify({ items: [{ sku: 'tea', quantity: 1, unitPrice: '4.50' }] });
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'by-curl' };
    for (let time = 0; time < 2; time++)
      expect((await send(`${shop.url}/customers/curl/orders`, { headers, body })).status).toBe(201);
    const cart = page.locator('.cart', { hasText: 'key by-curl' });
    await cart.locator('.requests p').nth(1).waitFor();
    expect(await cart.locator('.requests p').allInnerTexts()).toEqual([
      expect.stringMatching(/^Executed by process/),
      expect.stringMatching(/^Replayed/),
    ]);
    expect(await page.locator('.cart', { hasText: /curl/i }).count()).toBe(1);
  });

  it('an order of nothing, or of a quantity below zero, is not sent', async () => {
    const page = await open();
    const [tea, coffee] = ['Tea', 'Coffee'].map(product => page.page.getByLabel(product));
    const place = page.button(/^Place order/);
    await tea?.fill('0');
    await coffee?.fill('0');
    await place.click();
    const message = await tea?.evaluate((input: HTMLInputElement) => input.validationMessage);
    expect(message).toBe('Choose at least one product.');
    await tea?.fill('-3');
    expect(await place.innerText()).toBe('Place order');
    await place.click();
    expect(await page.placed()).toEqual([]);
    await tea?.fill('3');
    expect(await place.innerText()).toBe('Place order, €13.50');
  });

  it('works by keyboard alone, and shows where the focus is', async () => {
    const page = await open();
    const press = async (key: string, times = 1): Promise<void> => {
      for (let time = 0; time < times; time++) await page.page.keyboard.press(key);
    };
    const stops = [
      'API description',
      "Operator's page",
      'With bindonce',
      'Tea',
      'Coffee',
      'Place order, €15.20',
    ].concat(
      ['Click twice', 'Lose the connection', 'Crash the server', 'Reload the page', 'Offline'],
      'Open another tab as Ben',
    );
    for (const stop of stops) {
      await press('Tab');
      expect(await page.page.evaluate(focused)).toEqual([stop, 'solid']);
    }
    await press('Shift+Tab', stops.length - 1 - stops.indexOf('Place order, €15.20'));
    await press('Enter');
    await page.says(/^Placed once/);
    await press('Shift+Tab', 3);
    await press('ArrowRight');
    await press('Tab', 4);
    await press('Space');
    await page.says(/^Charged twice/);
  });

  it('says that orders and responses are lost with the process, and places the order of the crash once', async () => {
    const page = await orderWithCrash();
    expect(await page.page.locator('#storage-note').innerText()).toMatch(
      /its orders and its stored responses are lost/,
    );
    const death = /Process \d+ died, and its orders with it: they were in its memory/;
    await page.page.locator('#timeline', { hasText: death }).waitFor();
    expect(await page.placed()).toHaveLength(1);
  });

  it('does not keep the shop from stopping', async () => {
    let ms = Infinity;
    // A page that holds the shop up does so each time; a machine that stands still does not.
    for (let tries = 0; tries < 5 && ms >= 5_000; tries++) {
      if (tries > 0) shop = await NodeProcess.start(script, { REDIS_URL: '', SHOP_FILE: ':memory:' });
      const page = await open();
      const asked = performance.now();
      shop.signal('SIGINT');
      expect(await shop.ended()).toBe(0);
      ms = performance.now() - asked;
      await page.page.locator('#storage', { hasText: 'Connecting to the shop…' }).waitFor();
    }
    expect(ms).toBeLessThan(5_000);
  });
});

describe('the page of the demo on Redis', () => {
  let redis: RedisServer;
  const pictures = new TemporaryDirectory();
  /** Pictures for people are kept in the folder that SCREENSHOTS names. */
  const { SCREENSHOTS = pictures.path } = process.env;

  beforeAll(async () => {
    redis = await RedisServer.start();
    shop = await NodeProcess.start(script, { REDIS_URL: redis.url });
  });
  afterAll(async () => {
    await shop.kill();
    await redis.stop();
    pictures.remove();
  });

  it('a crashed process gives one order, which the other process places', async () => {
    await (await open()).page.locator('#timeline', { hasText: 'Process 2 started' }).waitFor();
    const page = await orderWithCrash();
    const timeline = await page.page.locator('#timeline').innerText();
    const [, dead] = /Process (\d+) died/.exec(timeline) ?? [];
    const [, alive] = /Executed by process (\d+)/.exec(timeline) ?? [];
    expect(new Set([undefined, dead, alive]).size).toBe(3);
    expect(timeline).not.toContain('its orders');
    expect(await page.placed()).toHaveLength(1);
    const { headers } = await send(`${shop.url}/customers/1/orders/1`, { method: 'GET' });
    expect(headers['x-served-by']).not.toBe(`process ${dead}`);
  });

  it.each([
    ['light', 'anna'],
    ['dark', 'ben'],
  ] as const)('is for everyone in the %s scheme, and not wider than a phone', async (colorScheme, customer) => {
    const page = await open(customer, { colorScheme });
    await page.button('Click twice').click();
    await page.requests(2);
    do await page.button('Lose the connection').click();
    while (!(await page.saysOfTwo(/^Placed once, with 2/)));
    await page.withoutBindonce();
    await page.button('Click twice').click();
    await page.says(/^Charged twice/);
    await page.page.mouse.move(0, 0);
    await page.page.evaluate(axe);
    expect(await page.page.evaluate(seriousViolations)).toEqual([]);
    await page.page.screenshot({ path: join(SCREENSHOTS, `demo-${colorScheme}.png`) });

    await page.page.setViewportSize({ width: 360, height: 740 });
    expect(await page.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(await page.page.evaluate(seriousViolations)).toEqual([]);
    await page.page.screenshot({ path: join(SCREENSHOTS, `demo-phone-${colorScheme}.png`), fullPage: true });
  });
});

/** Runs in the page. */
function clickTwice(button: HTMLElement): void {
  button.click();
  button.click();
}

/** Runs in the page: the name of the focused element, and the style of the outline around it. */
function focused(): string[] {
  const element = document.activeElement as HTMLInputElement;
  const label = element.labels?.[0] ?? element;
  const name = label.querySelector('b, span') ?? label;
  const outlined = element.type === 'radio' ? (element.nextElementSibling ?? element) : element;
  return [name.textContent.trim(), getComputedStyle(outlined).outlineStyle];
}

/** Runs in the page, in which axe is. */
async function seriousViolations(): Promise<string[]> {
  const { violations } = await (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
