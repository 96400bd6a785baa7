import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { send } from '../support/listen';
import type { NodeProcess } from '../support/servers/node-process';

/** The page of the demo as one customer sees it, in a browser profile of its own. */
export class ShopPage {
  /** Scripts that threw, content that the policy refused, and requests to other hosts. */
  readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly shop: NodeProcess,
    private readonly customer: string,
  ) {}

  /** Opens the page and waits until it follows the shop. */
  static async open(
    browser: Browser,
    shop: NodeProcess,
    customer: string,
    options: BrowserContextOptions = {},
  ): Promise<ShopPage> {
    const page = await (await browser.newContext({ viewport: { width: 1120, height: 920 }, ...options })).newPage();
    const opened = new ShopPage(page, shop, customer);
    page.on('pageerror', error => opened.faults.push(error.message));
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) opened.faults.push(message.text());
    });
    page.on('request', request => {
      if (!request.url().startsWith(`${shop.url}/`) && !request.url().startsWith('data:'))
        opened.faults.push(request.url());
    });
    await page.goto(`${shop.url}/?customer=${customer}`);
    await opened.connected();
    return opened;
  }

  async connected(): Promise<void> {
    await this.follows().waitFor();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  async withoutBindonce(): Promise<void> {
    await this.page.getByRole('radio', { name: 'Without bindonce' }).check();
  }

  /** Resolves when the page says this of the order. */
  async says(text: RegExp): Promise<void> {
    await this.page.getByRole('status').filter({ hasText: text }).waitFor();
  }

  /** Resolves when the page says this of the order; with false if it has sent one request only, and so says something else. */
  async saysOfTwo(text: RegExp): Promise<boolean> {
    const status = this.page.getByRole('status');
    const said = status.filter({ hasText: text });
    const one = status.filter({ hasText: /^Placed once, with 1 request\./ });
    // It has got the answer just before it was reloaded, and has nothing to send again.
    const idle = this.page.locator('body', { has: this.page.locator('#status:empty') }).filter({ has: this.follows() });
    await said.or(one).or(idle).first().waitFor();
    return (await said.count()) > 0;
  }

  /** The requests of this customer's latest cart, a line for each, when there are so many and none goes on. */
  async requests(count: number): Promise<string[]> {
    const rows = this.page.locator('.cart', { has: this.name() }).first().locator('.requests p');
    await rows.nth(count - 1).waitFor();
    while ((await rows.allInnerTexts()).some(text => /^(Sent|Running)/.test(text)));
    // The shop may report them before this page has the answers; until then, a click goes on with their order.
    await this.page.locator('#products:enabled').waitFor();
    return rows.allInnerTexts();
  }

  /** The ids of the orders that the shop has really placed for this customer. */
  async placed(): Promise<string[]> {
    const { text } = await send(`${this.shop.url}/orders`, { method: 'GET' });
    const { orders } = JSON.parse(text) as { orders: { orderId: string; customerId: string }[] };
    return orders.filter(({ customerId }) => customerId === this.customer).map(({ orderId }) => orderId);
  }

  /** The marks on those of them that the page lists. */
  async marks(): Promise<string[]> {
    const mine = this.page.locator('#orders li', { has: this.name() });
    return mine.locator('.verdict').allInnerTexts();
  }

  /** Finds what says that the page follows the shop. */
  private follows(): Locator {
    return this.page.locator('#storage', { hasText: /process/i });
  }

  /** Finds where the page names this customer. */
  private name(): Locator {
    return this.page.locator('strong', { hasText: new RegExp(`^${this.customer}$`, 'i') });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
