import express from 'express';
import { Keyv } from 'keyv';
import type { Browser, Page } from 'playwright-core';
import { idempotency, memoryLeases, operate, type LeaseStore, type RunRecord } from '../../../lib';
import { startBrowser } from '../../support/browser';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
afterEach(() => page.close());

/** An application with three runs, and the page over it. */
async function open(leases?: LeaseStore) {
  const once = idempotency({ store: new Keyv({ store: new Map() }), ...(leases && { leases }) });
  const runs: string[] = [];
  const app = express()
    .use('/operate', operate(once, { allow: () => true }))
    .post('*path', once, (req, res) => {
      runs.push(req.idempotency.key);
      res.status(201).json({ html: '<b>paid</b>' });
    });
  const { url } = await serve(app);
  const post = (key: string, path: string) => send(url + path, { headers: keyed(key) });
  await post('tea', '/orders/1');
  await post('milk', '/orders/2');
  await post('tea', '/<img src=x onerror=alert(1)>'.replaceAll(' ', '%20'));
  const asked: string[] = [];
  page = await browser.newPage();
  page.on('request', request => asked.push(new URL(request.url()).origin));
  page.on('dialog', dialog => dialog.type() === 'alert' && asked.push('a script of a path has run'));
  await page.goto(`${url}/operate`);
  await page.getByText('shown, the newest first').waitFor();
  return { url, post, runs, asked };
}

const titles = (): Promise<string[]> => page.locator('#runs h2').allInnerTexts();
const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();

describe('the page of operate()', () => {
  it('shows what happened in plain words, and asks no other host', async () => {
    const { url, asked } = await open();
    expect(await titles()).toEqual(['POST /%3Cimg%20src=x%20onerror=alert(1)%3E', 'POST /orders/2', 'POST /orders/1']);
    expect(await page.locator('.happened').last().innerText()).toMatch(
      /^The request came at .*\. It ran and answered 201\. Retries get this response until .*\.$/,
    );
    await page.getByRole('button', { name: /^Show the response: POST \/orders\/1,/ }).click();
    expect(await page.locator('#runs pre').innerText()).toMatch(
      /Content-Type: application\/json.*\n\n\{"html":"<b>paid<\/b>"\}$/s,
    );
    expect(new Set(asked)).toEqual(new Set([url]));
  });

  it('looks runs up by the key of a client, by path and by state', async () => {
    await open();
    await page.getByLabel('Key of a client').fill('tea');
    await page.keyboard.press('Enter');
    await page.getByText('2 shown').waitFor();
    await page.getByLabel('Path, and all below it').fill('/orders');
    await press('Look up');
    await page.getByText('1 shown').waitFor();
    expect(await titles()).toEqual(['POST /orders/1']);
    await page.getByLabel('State').selectOption('unknown');
    await press('Look up');
    await page.getByText('There are none.').waitFor();
  });

  it('purges a run when that is confirmed, and only then', async () => {
    const { post, runs } = await open();
    const purge = page.getByRole('button', { name: /^Purge: POST \/orders\/2,/ });
    const questions: string[] = [];
    page.on('dialog', dialog => {
      void (questions.push(dialog.message()) > 1 ? dialog.accept() : dialog.dismiss());
    });
    await purge.click();
    await post('milk', '/orders/2');
    await purge.click();
    await page.getByText('Purge: done. 2 shown').waitFor();
    await post('milk', '/orders/2');
    expect(runs).toEqual(['tea', 'milk', 'tea', 'milk']);
    expect(questions).toEqual(
      Array(2).fill(expect.stringMatching(/^Purge: POST \/orders\/2\n.* RUNS THE HANDLER AGAIN/s)),
    );
  });

  it.each(['It ran', 'It did not run'])('settles a run whose process died: %s', async outcome => {
    const settled: unknown[] = [];
    const memory = memoryLeases();
    const sent = { method: 'POST', path: '/pay', created: 0, ends: 1e13 };
    const run: RunRecord = { cacheKey: 'dead', token: 't', state: 'unknown', ...sent };
    const leases = Object.assign(Object.create(memory) as LeaseStore, {
      acquire: (...args: Parameters<LeaseStore['acquire']>) =>
        args[0] === 'dead' ? ({ kind: 'unknown', token: 't' } as const) : memory.acquire(...args),
      list: () => Promise.resolve({ items: settled.length === 0 ? [run] : [] }),
      settle: (_key: string, _token: string, how: string) => settled.push(how) > 0,
    });
    await open(leases);
    expect(await page.locator('.happened').innerText()).toContain('Every retry gets 409 until you settle it');
    page.on('dialog', dialog => dialog.accept());
    await page.getByRole('button', { name: `${outcome}: POST /pay` }).click();
    await page.getByText(`${outcome}: done. There are none.`).waitFor();
    expect(settled).toEqual([outcome === 'It ran' ? 'ran' : 'did-not-run']);
  });

  it('says what went wrong', async () => {
    await open();
    await page.route('**/keys?*', route => route.fulfill({ status: 503, json: { detail: 'The store is away.' } }));
    await press('Look up');
    await page.getByRole('status').getByText('The store is away.').waitFor();
  });
});
