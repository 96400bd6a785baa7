import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import express from 'express';
import { Client } from 'pg';
import { seen } from '../support/guarded';
import { listen, send, type Listening, type WireResponse } from '../support/listen';
import { PostgresServer } from '../support/servers/postgres-server';
import { blocksOf, pageOf, type Block, type Page } from './pages';
import { whileRunning } from './running';

const root = join(__dirname, '../..');
const recipes = pageOf(root, 'docs/recipes.md');

/** Instead of a status: the service closes the connection. */
const BROKEN_OFF = 0;

/** The first snippet under a heading. */
function snippetUnder(heading: string, page: Page = recipes): Block {
  const [, text] = page.text.split(`\n## ${heading}\n`);
  const [snippet] = blocksOf({ ...page, text: text ?? '' });
  if (!snippet) throw new Error(`${page.file} has no snippet under "${heading}"`);
  return snippet;
}

/** The status of an answer, and whether it is a replay. */
const outcome = (answer: WireResponse): string => `${answer.status}${seen(answer).endsWith(' again') ? ' again' : ''}`;

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<WireResponse> =>
  send(`${url}${path}`, {
    headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('a service that a snippet calls', () => {
  let service: Listening;
  /** How it answers each request, in turn; then 201. */
  let answers: number[];
  let keys: (string | undefined)[];

  beforeEach(async () => {
    [answers, keys] = [[], []];
    const app = express().use((req, res) => {
      keys.push(req.get('Idempotency-Key'));
      const status = answers.shift() ?? 201;
      if (status === BROKEN_OFF) req.socket.destroy();
      else res.status(status).json({ status });
    });
    service = await listen(app);
  });
  afterEach(() => service.close());

  const addresses = () => {
    const address = `http://127.0.0.1:${service.port}`;
    return { 'https://payments.example': address, 'https://stock.example': address };
  };

  const payment = { invoice: 'tea', amount: '4.50' };
  const pays = snippetUnder("A payment with the provider's own key");

  it('that takes payments is asked again, under the same key, after what decides nothing, and not after a refusal', async () => {
    const nothing = [401, 403, 408, 409, 425, 429, 500, 503, BROKEN_OFF];
    await whileRunning(
      pays,
      async url => {
        for (const status of nothing) {
          answers = [status];
          keys = [];
          const key = { 'Idempotency-Key': `after ${status}` };
          const got = [];
          for (let turn = 0; turn < 3; turn++) got.push(await post(url, '/payments', payment, key));
          expect([status, ...got.map(outcome)]).toEqual([status, '503', '201', '201 again']);
          if (status !== BROKEN_OFF) expect(got[0]?.headers['retry-after']).toBe('5');
          expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
        }
        [answers, keys] = [[402], []];
        const refused = [await post(url, '/payments', payment), await post(url, '/payments', payment)];
        expect([...refused.map(outcome), keys.length]).toEqual(['402', '402 again', 1]);
      },
      { addresses: addresses() },
    );
  });

  it('that takes payments gets one charge for one key, also if a retry writes the amount in another way', async () => {
    const work = async (url: string): Promise<void> => {
      const got = [await post(url, '/payments', payment), await post(url, '/payments', { ...payment, amount: '4.5' })];
      expect([...got.map(outcome), keys.length]).toEqual(['201', '422', 1]);
    };
    await whileRunning(pays, work, { addresses: addresses() });
  });

  it('that reserves stock is asked again after a 503, and no other error', async () => {
    const work = async (url: string): Promise<void> => {
      for (const [status, ...expected] of [
        [503, '503', '503', 2],
        [500, '500', '500 again', 1],
        [404, '500', '500 again', 1],
        [200, '201', '201 again', 1],
      ] as const) {
        [answers, keys] = [[status, status], []];
        const key = { 'Idempotency-Key': `after ${status}` };
        const got = [await post(url, '/orders', {}, key), await post(url, '/orders', {}, key)];
        expect([status, ...got.map(outcome), keys.length]).toEqual([status, ...expected]);
      }
    };
    await whileRunning(snippetUnder('Errors that a retry may run again'), work, { addresses: addresses() });
  });
});

describe('the receiver of webhooks', () => {
  const secret = 'of the provider';
  const receiver = snippetUnder('A webhook receiver');
  const receiving = (replace: readonly [string, string], work: (url: string) => Promise<void>): Promise<void> =>
    whileRunning({ ...receiver, code: receiver.code.replace(...replace) }, work, { env: { WEBHOOK_SECRET: secret } });
  const deliver = async (url: string, event: object, id = 'one', signature?: string): Promise<string> => {
    const signed = createHmac('sha256', secret).update(JSON.stringify(event)).digest('hex');
    return outcome(
      await post(url, '/webhooks/payments', event, { 'X-Event-Id': id, 'X-Signature': signature ?? signed }),
    );
  };

  it('handles an event once, also if its deliveries differ, after a failure again, and refuses a wrong signature', () =>
    receiving(['sendStatus(204)', 'sendStatus((event as { answer?: number }).answer ?? 204)'], async url => {
      const forged = '00'.repeat(32);
      const got = [await deliver(url, { attempt: 1 }, 'one', forged)];
      for (const attempt of [1, 2]) got.push(await deliver(url, { attempt }));
      got.push(await deliver(url, { attempt: 3 }, 'one', forged));
      expect(got).toEqual(['401', '204', '204 again', '401']);
      for (const status of [400, 302, 409, 422, 500]) {
        const again = [];
        for (const answer of [status, 200, status]) again.push(await deliver(url, { answer }, `after ${status}`));
        expect(again).toEqual([String(status), '200', '200 again']);
      }
    }));

  it('refuses each event behind an express.json(), which has read the body', () =>
    receiving(['const app = express();', 'const app = express();\napp.use(express.json());'], async url => {
      expect(await deliver(url, { type: 'paid' })).toBe('401');
    }));
});

it('an order that is committed with its response is placed once, also if its process has ended since, and refused with the rule that it breaks', async () => {
  const snippet = snippetUnder('An order and its response', pageOf(root, 'docs/exactly-once.md'));
  const database = await PostgresServer.start();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(/CREATE TABLE .*/.exec(snippet.code)?.[0] ?? '');
  const answers: string[] = [];
  for (const quantity of [0, 2, 2]) {
    const work = async (url: string): Promise<void> => {
      const { status, text } = await post(url, '/orders', { sku: 'tea', quantity });
      answers.push(status === 400 ? String(status) : text);
    };
    await whileRunning(snippet, work, { env: { DATABASE_URL: database.url } });
  }
  const order = '{"id":1,"sku":"tea","quantity":2}';
  expect(answers).toEqual(['400', order, order]);
  expect((await client.query('SELECT FROM orders')).rowCount).toBe(1);
  await client.end();
  await database.stop();
}, 120_000);
