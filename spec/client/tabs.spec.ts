import { join } from 'node:path';
import express from 'express';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { idempotency } from '../../lib';
import type { IdempotentFetch, idempotentFetch, IdempotentFetchError } from '../../lib/client';
import { startBrowser } from '../support/browser';
import { serve } from '../support/serve';
import { signal, type Signal } from '../support/signal';

/** Milliseconds between the clicks in two tabs. */
const GAPS = [0, 1, 2, 4, 8, 16];
const RACES_PER_GAP = 15;

interface Tab {
  readonly pay: IdempotentFetch;
}

let browser: Browser;
let origin: string;
const charges = new Map<string, number>();
/** Of each race whose first request has come: what happens when the second one comes. */
const seconds = new Map<string, Signal>();

beforeEach(async () => {
  const app = express()
    .use('/client', express.static(join(__dirname, '../../dist/esm')))
    .get('/', (_req, res) => {
      res.type('html').send('<title>Shop</title>');
    })
    .post('/outage', (_req, res) => {
      res.status(503).set('Retry-After', '3600').end();
    })
    .post('/paid', (_req, res) => {
      res.status(201).end();
    })
    .post('/payments/:race', ({ path: race }, _res, next) => {
      const second = seconds.get(race);
      if (second) second.happens();
      else seconds.set(race, signal());
      next();
    })
    .post('/payments/:race', idempotency(), async ({ path: race }, res) => {
      charges.set(race, (charges.get(race) ?? 0) + 1);
      // A click after the answer would be another purchase.
      await seconds.get(race)?.happened;
      res.status(201).end();
    });
  // On localhost, a page has crypto.subtle without https.
  origin = `http://localhost:${(await serve(app)).port}`;
});

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
});

/** Opens a page with a client. */
async function open(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(origin);
  await load(page);
  return page;
}

const load = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const path = '/client/client.js';
    const module = (await import(path)) as { idempotentFetch: typeof idempotentFetch };
    Object.assign(globalThis, { pay: module.idempotentFetch({ deadline: 20_000, baseDelay: 1 }) });
  });

/** Clicks in a tab at a time. @returns the key, also of an operation that did not finish. */
const click = (page: Page, path: string, at = 0, operation?: string): Promise<string | undefined> =>
  page.evaluate(
    async ([url, time, name]) => {
      while (Date.now() < time) await new Promise(resolve => setTimeout(resolve));
      const { pay } = globalThis as unknown as Tab;
      const paid = pay(url, { method: 'POST', ...(name !== undefined && { operation: name }) });
      return (await paid.catch((error: IdempotentFetchError) => error)).key;
    },
    [path, at, operation] as const,
  );

const races = GAPS.flatMap(gap =>
  Array.from({ length: RACES_PER_GAP }, (_, index) => [`/payments/${gap}-${index}`, gap] as const),
);

it('two tabs of a browser that pay at one time pay once', async () => {
  const context = await browser.newContext();
  const [first, second] = [await open(context), await open(context)];
  for (const [path, gap] of races) {
    const at = Date.now() + 30;
    const [one, other] = await Promise.all([click(first, path, at), click(second, path, at + gap)]);
    expect([path, one === other, charges.get(path)]).toEqual([path, true, 1]);
  }
});

describe('an operation that did not finish', () => {
  it('has its key after a reload, and in another tab; when it has finished, the next one has another', async () => {
    const context = await browser.newContext();
    const page = await open(context);
    const key = await click(page, '/outage', 0, 'cart 42');
    await page.reload();
    await load(page);
    expect(await click(page, '/outage', 0, 'cart 42')).toBe(key);
    const other = await open(context);
    expect(await click(other, '/outage', 0, 'cart 42')).toBe(key);
    await other.evaluate(() => (globalThis as unknown as Tab).pay.forget('cart 42'));
    expect(await click(page, '/outage', 0, 'cart 42')).not.toBe(key);
    const keys = [await click(page, '/paid'), await click(page, '/paid')];
    expect(new Set(keys).size).toBe(2);
  });

  it('has it in the memory of a page without IndexedDB, which a warning tells once', async () => {
    const context = await browser.newContext();
    await context.addInitScript('Object.defineProperty(globalThis, "indexedDB", { value: undefined })');
    const page = await open(context);
    const warnings: string[] = [];
    page.on('console', message => message.type() === 'warning' && warnings.push(message.text()));
    const keys = [await click(page, '/outage'), await click(page, '/outage')];
    expect([new Set(keys).size, warnings.length]).toEqual([1, 1]);
    expect(warnings[0]).toContain('bindonce/client keeps its keys in memory, because there is no IndexedDB');
  });

  it('is tried again at once when the page is online again', async () => {
    const context = await browser.newContext();
    const page = await open(context);
    await context.setOffline(true);
    const paid = page.evaluate(async () => {
      const path = '/client/client.js';
      const { idempotentFetch: make } = (await import(path)) as { idempotentFetch: typeof idempotentFetch };
      Math.random = () => 0.99;
      const onRetry = (): void => {
        document.title = 'offline';
      };
      return (await make({ baseDelay: 50_000, maxDelay: 50_000, onRetry })('/paid', { method: 'POST' })).attempts;
    });
    await page.waitForFunction(() => document.title === 'offline');
    await context.setOffline(false);
    expect(await paid).toBe(2);
  });
});
