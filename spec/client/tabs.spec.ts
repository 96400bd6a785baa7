import { join } from 'node:path';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { idempotency } from '../../lib';
import type { IdempotentFetch, idempotentFetch } from '../../lib/client';
import { startBrowser } from '../support/browser';
import { serve } from '../support/serve';

/** Milliseconds between the clicks in two tabs. What one stores, the other may see 50 ms later. */
const GAPS = [0, 1, 2, 4, 8, 16];
const RACES_PER_GAP = 15;

let browser: Browser | undefined;

afterAll(async () => {
  await browser?.close();
});

/** What a tab of the page has. */
interface Tab {
  pay: IdempotentFetch;
}

it('two tabs of a browser that pay at one time pay once', async () => {
  const charges = new Map<string, number>();
  const app = express()
    .use('/client', express.static(join(__dirname, '../../dist/esm')))
    .get('/', (_req, res) => {
      res.type('html').send('<title>Shop</title>');
    })
    .post('/payments/:race', idempotency(), (req, res) => {
      const { race } = req.params;
      charges.set(race, (charges.get(race) ?? 0) + 1);
      setTimeout(() => res.status(201).end(), 100);
    });
  const { port } = await serve(app);
  browser = await startBrowser();
  const context = await browser.newContext();
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    // On localhost, a page has Web Locks and crypto.subtle without https.
    await page.goto(`http://localhost:${port}/`);
    await page.evaluate(async () => {
      const path = '/client/client.js';
      const module = (await import(path)) as { idempotentFetch: typeof idempotentFetch };
      (globalThis as unknown as Tab).pay = module.idempotentFetch({ storage: () => localStorage });
    });
    return page;
  };
  const [first, second] = [await open(), await open()];
  const click = (page: Page, race: string, at: number): Promise<string> =>
    page.evaluate(
      async ([url, time]) => {
        while (Date.now() < time) await new Promise(resolve => setTimeout(resolve));
        return (await (globalThis as unknown as Tab).pay(url, { method: 'POST' })).key;
      },
      [`/payments/${race}`, at] as const,
    );
  const races = GAPS.flatMap(gap => Array.from({ length: RACES_PER_GAP }, (_, index) => [gap, index] as const));
  for (const [gap, index] of races) {
    const race = `${gap}-${index}`;
    const at = Date.now() + 30;
    const [one, other] = await Promise.all([click(first, race, at), click(second, race, at + gap)]);
    expect([race, one === other, charges.get(race)]).toEqual([race, true, 1]);
  }
});
