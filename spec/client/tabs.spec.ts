import { join } from 'node:path';
import express from 'express';
import type { Browser, Page } from 'playwright-core';
import { idempotency } from '../../lib';
import type { IdempotentFetch, idempotentFetch } from '../../lib/client';
import { startBrowser } from '../support/browser';
import { serve } from '../support/serve';
import { signal, type Signal } from '../support/signal';

/** Milliseconds between the clicks in two tabs. What one stores, the other may see 50 ms later. */
const GAPS = [0, 1, 2, 4, 8, 16];
const RACES_PER_GAP = 15;

/** What a tab of the page has: a client for each kind of storage. */
interface Tab {
  clients: Record<StorageKind, IdempotentFetch>;
  /** How often the client has looked into a storage. */
  looks: number;
}

type StorageKind = 'localStorage' | 'a wrapped localStorage with the prefix -' | 'sessionStorage' | 'memory of the tab';

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
    .post('/payments/:race', (req, _res, next) => {
      const { race } = req.params;
      const second = seconds.get(race);
      if (second) second.happens();
      else seconds.set(race, signal());
      next();
    })
    .post('/payments/:race', idempotency(), async (req, res) => {
      const { race } = req.params;
      charges.set(race, (charges.get(race) ?? 0) + 1);
      // A click after the answer would be another purchase.
      await seconds.get(race)?.happened;
      res.status(201).end();
    });
  // On localhost, a page has Web Locks and crypto.subtle without https.
  origin = `http://localhost:${(await serve(app)).port}`;
});

beforeAll(async () => {
  browser = await startBrowser();
});

afterAll(async () => {
  await browser.close();
});

async function openTabs(): Promise<[Page, Page]> {
  const context = await browser.newContext();
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(origin);
    await page.evaluate(async () => {
      const path = '/client/client.js';
      const module = (await import(path)) as { idempotentFetch: typeof idempotentFetch };
      const pay = (getItem: unknown, setItem: unknown, removeItem: unknown, prefix = ''): IdempotentFetch =>
        module.idempotentFetch({ storage: { getItem, setItem, removeItem } as Storage, prefix });
      const items = new Map<string, string>();
      const tab = globalThis as unknown as Tab;
      tab.looks = 0;
      const { getItem } = Storage.prototype;
      Storage.prototype.getItem = function (name) {
        tab.looks++;
        return getItem.call(this, name);
      };
      tab.clients = {
        localStorage: module.idempotentFetch({ storage: () => localStorage }),
        'a wrapped localStorage with the prefix -': pay(
          (name: string) => localStorage.getItem(`shop ${name}`),
          (name: string, value: string) => {
            localStorage.setItem(`shop ${name}`, value);
          },
          (name: string) => {
            localStorage.removeItem(`shop ${name}`);
          },
          '-',
        ),
        sessionStorage: module.idempotentFetch({ storage: sessionStorage }),
        'memory of the tab': pay(
          (name: string) => {
            tab.looks++;
            return items.get(name);
          },
          (name: string, value: string) => items.set(name, value),
          (name: string) => items.delete(name),
        ),
      };
    });
    return page;
  };
  return [await open(), await open()];
}

/** Clicks in a tab at a time. @returns the key. */
const click = (page: Page, kind: StorageKind, path: string, at: number): Promise<string> =>
  page.evaluate(
    async ([storage, url, time]) => {
      while (Date.now() < time) await new Promise(resolve => setTimeout(resolve));
      return (await (globalThis as unknown as Tab).clients[storage](url, { method: 'POST' })).key;
    },
    [kind, path, at] as const,
  );

/** Clicks in both tabs. @returns the keys. */
const clickInBoth = (
  [first, second]: [Page, Page],
  kind: StorageKind,
  path: string,
  gap: number,
): Promise<string[]> => {
  const at = Date.now() + 30;
  return Promise.all([click(first, kind, path, at), click(second, kind, path, at + gap)]);
};

const races = GAPS.flatMap(gap =>
  Array.from({ length: RACES_PER_GAP }, (_, index) => [`${gap}-${index}`, gap] as const),
);

describe('two tabs of a browser that pay at one time', () => {
  it.each<StorageKind>(['localStorage', 'a wrapped localStorage with the prefix -'])(
    'pay once, with %s',
    async kind => {
      const tabs = await openTabs();
      for (const [index, gap] of races) {
        const race = `${kind} ${index}`;
        const [one, other] = await clickInBoth(tabs, kind, `/payments/${race}`, gap);
        expect([race, one === other, charges.get(race)]).toEqual([race, true, 1]);
      }
    },
  );

  it.each<[StorageKind, boolean]>([
    ['sessionStorage', false],
    // One tab looks for a second for the key of the other.
    ['memory of the tab', true],
  ])('pay twice, with %s', async (kind, looksForOther) => {
    const rounds = looksForOther ? 5 : 1;
    let looks: number[] = [];
    // If a tab stands still for a second, there is nothing left to look for.
    for (let round = 0; round < rounds && !looks.some(count => count > 2); round++) {
      const tabs = await openTabs();
      const race = `${kind} ${round}`;
      const [one, other] = await clickInBoth(tabs, kind, `/payments/${race}`, 4);
      expect([one === other, charges.get(race)]).toEqual([false, 2]);
      looks = await Promise.all(tabs.map(tab => tab.evaluate(() => (globalThis as unknown as Tab).looks)));
    }
    // Before its request, and after the answer.
    if (looksForOther) expect(Math.max(...looks)).toBeGreaterThan(2);
    else expect(looks).toEqual([2, 2]);
  });
});
