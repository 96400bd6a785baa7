import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import express from 'express';
import { Client } from 'pg';
import { listen, send, type Listening, type WireResponse } from '../support/listen';
import { PostgresServer } from '../support/servers/postgres-server';
import { blocksOf, pageOf, type Block, type Page } from './pages';
import { whileRunning } from './running';

const root = join(__dirname, '../..');
const recipes = pageOf(root, 'docs/recipes.md');

/** Instead of a status: the service closes the connection. */
const BROKEN_OFF = 0;

/** The first snippet under a heading. */
function snippetUnder(heading: string, page: Page): Block {
  const [, text] = page.text.split(`\n## ${heading}\n`);
  const [snippet] = blocksOf({ ...page, text: text ?? '' });
  if (!snippet) throw new Error(`${page.file} has no snippet under "${heading}"`);
  return snippet;
}

const isReplay = ({ headers }: WireResponse): boolean => headers['idempotent-replayed'] === 'true';

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<WireResponse> =>
  send(`${url}${path}`, {
    headers: { 'Idempotency-Key': 'k', 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

describe('a service that the snippets call', () => {
  let service: Listening;
  /** How it answers each request, in turn; then 201. */
  let answers: number[];
  let keys: (string | undefined)[];
  let bodies: unknown[];

  beforeEach(async () => {
    [answers, keys, bodies] = [[], [], []];
    const app = express();
    app.use(express.json(), (req, res) => {
      keys.push(req.get('Idempotency-Key'));
      bodies.push(req.body);
      const status = answers.shift() ?? 201;
      if (status === BROKEN_OFF) req.socket.destroy();
      else res.status(status).json({ status });
    });
    service = await listen(app);
  });
  afterEach(() => service.close());

  const serviceAt = (name: string) => ({
    addresses: { [`https://${name}.example`]: `http://127.0.0.1:${service.port}` },
  });

  describe('that takes payments', () => {
    const heading = "A payment with the provider's own key";
    const payment = { invoice: 'tea', amount: '4.50' };

    it.each([401, 403, 408, 409, 425, 429, 500, 503])(
      'is asked again, under the same key, after a %d, which decides nothing',
      async status => {
        answers = [status];
        await whileRunning(
          snippetUnder(heading, recipes),
          async url => {
            const first = await post(url, '/payments', payment);
            expect([first.status, first.headers['retry-after']]).toEqual([503, '5']);
            const [again, duplicate] = [await post(url, '/payments', payment), await post(url, '/payments', payment)];
            expect([again.status, isReplay(again), duplicate.status, isReplay(duplicate)]).toEqual([
              201,
              false,
              201,
              true,
            ]);
            expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
          },
          serviceAt('payments'),
        );
      },
    );

    it('is not asked again after it has refused for good', async () => {
      answers = [402];
      await whileRunning(
        snippetUnder(heading, recipes),
        async url => {
          const [first, again] = [await post(url, '/payments', payment), await post(url, '/payments', payment)];
          expect([first.status, again.status, isReplay(again), keys.length]).toEqual([402, 402, true, 1]);
        },
        serviceAt('payments'),
      );
    });

    it('gets one charge for one key, also if a retry writes the amount in another way', async () => {
      await whileRunning(
        snippetUnder(heading, recipes),
        async url => {
          expect((await post(url, '/payments', payment)).status).toBe(201);
          expect((await post(url, '/payments', { ...payment, amount: '4.5' })).status).toBe(422);
          expect(keys).toHaveLength(1);
        },
        serviceAt('payments'),
      );
    });

    it('is asked again, under the same key, after its answer was lost: it may have charged', async () => {
      answers = [BROKEN_OFF];
      await whileRunning(
        snippetUnder(heading, recipes),
        async url => {
          expect((await post(url, '/payments', payment)).status).toBe(503);
          expect((await post(url, '/payments', payment)).status).toBe(201);
          expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
        },
        serviceAt('payments'),
      );
    });
  });

  describe('that reserves stock', () => {
    it.each([
      [503, 503, false, 2],
      [500, 500, true, 1],
      [404, 500, true, 1],
      [200, 201, true, 1],
    ])('and answers %d: the client gets %d', async (status, expected, isStored, calls) => {
      answers = [status, status];
      await whileRunning(
        snippetUnder('Errors that a retry may run again', recipes),
        async url => {
          const [first, again] = [await post(url, '/orders', {}), await post(url, '/orders', {})];
          expect([first.status, again.status, isReplay(again), keys.length]).toEqual([
            expected,
            expected,
            isStored,
            calls,
          ]);
        },
        serviceAt('stock'),
      );
    });
  });
});

describe('the receiver of webhooks', () => {
  const secret = 'of the provider';
  const deliver = (url: string, event: object, signature?: string): Promise<WireResponse> => {
    const signed = createHmac('sha256', secret).update(JSON.stringify(event)).digest('hex');
    return post(url, '/webhooks/payments', event, { 'X-Event-Id': 'one', 'X-Signature': signature ?? signed });
  };

  it('handles an event once, also if its deliveries differ, and refuses one with a wrong signature', async () => {
    await whileRunning(
      snippetUnder('A webhook receiver', recipes),
      async url => {
        const event = { type: 'paid', attempt: 1 };
        expect((await deliver(url, event, '00'.repeat(32))).status).toBe(401);
        const first = await deliver(url, event);
        const second = await deliver(url, { ...event, attempt: 2 });
        expect([first.status, isReplay(first), second.status, isReplay(second)]).toEqual([204, false, 204, true]);
        expect((await deliver(url, { ...event, attempt: 3 }, '00'.repeat(32))).status).toBe(401);
      },
      { env: { WEBHOOK_SECRET: secret } },
    );
  });

  it.each([400, 302, 409, 422, 500])('handles an event again after a %d, and once after a 2xx', async status => {
    const snippet = snippetUnder('A webhook receiver', recipes);
    const code = snippet.code.replace('sendStatus(204)', 'sendStatus((event as { answer?: number }).answer ?? 204)');
    await whileRunning(
      { ...snippet, code },
      async url => {
        const answers: [status: number, isReplay: boolean][] = [];
        for (const answer of [status, 200, status]) {
          const delivery = await deliver(url, { type: 'paid', answer });
          answers.push([delivery.status, isReplay(delivery)]);
        }
        expect(answers).toEqual([
          [status, false],
          [200, false],
          [200, true],
        ]);
      },
      { env: { WEBHOOK_SECRET: secret } },
    );
  });

  it('refuses each event behind an express.json(), which has read the body', async () => {
    const snippet = snippetUnder('A webhook receiver', recipes);
    const code = snippet.code.replace('const app = express();', '$&\napp.use(express.json());');
    await whileRunning(
      { ...snippet, code },
      async url => {
        expect((await deliver(url, { type: 'paid' })).status).toBe(401);
      },
      { env: { WEBHOOK_SECRET: secret } },
    );
  });
});

describe('an order that is committed with its response', () => {
  it('is placed once, also if its process has ended since, and refused with the rule that it breaks', async () => {
    const snippet = snippetUnder('An order and its response', pageOf(root, 'docs/exactly-once.md'));
    const database = await PostgresServer.start();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(/CREATE TABLE .*/.exec(snippet.code)?.[0] ?? '');
    const answers: string[] = [];
    for (const quantity of [0, 2, 2])
      await whileRunning(
        snippet,
        async url => {
          const { status, text } = await post(url, '/orders', { sku: 'tea', quantity });
          answers.push(status === 400 ? String(status) : text);
        },
        { env: { DATABASE_URL: database.url } },
      );
    const order = '{"id":1,"sku":"tea","quantity":2}';
    expect(answers).toEqual(['400', order, order]);
    expect((await client.query('SELECT FROM orders')).rowCount).toBe(1);
    await client.end();
    await database.stop();
  }, 120_000);
});
