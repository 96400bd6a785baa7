import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';
import { RedisServer } from '../support/servers/redis-server';

const root = join(__dirname, '../..');
const script = join(root, 'demo-app/dist/server.js');
const tea = JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] });

interface Order {
  readonly orderId: string;
  readonly total: string;
}

const start = (env: Readonly<Record<string, string>> = {}): Promise<NodeProcess> =>
  NodeProcess.start(script, { REDIS_URL: '', ...env });
const get = (shop: NodeProcess, path: string): Promise<WireResponse> => send(shop.url + path, { method: 'GET' });
const order = (shop: NodeProcess, key: string, body = tea, query = ''): Promise<WireResponse> =>
  send(`${shop.url}/customers/42/orders${query}`, {
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key, 'X-Channel': 'phone' },
    body,
  });
const placed = async (shop: NodeProcess): Promise<readonly Order[]> =>
  (JSON.parse((await get(shop, '/orders')).text) as { orders: Order[] }).orders;

/** The exit code of a demo that cannot open, and all that it has printed. */
async function failure(settings: Readonly<Record<string, string>>): Promise<string> {
  const { message } = await start(settings).then(
    shop => new Error(`It has opened at ${shop.url}`),
    (error: Error) => error,
  );
  return message.replace(/^The process ended with (\S+) before it printed [^\n]*:\n/, ': $1: ');
}

/** At Ctrl-C, the demo gives requests five seconds to end; where there is none, it does not wait. */
async function endsAtOnce(shop: NodeProcess): Promise<void> {
  const asked = performance.now();
  shop.signal('SIGINT');
  expect(await shop.ended()).toBe(0);
  expect(performance.now() - asked).toBeLessThan(5_000);
}

describe('the demo in memory', () => {
  let shop: NodeProcess;
  beforeEach(async () => {
    shop = await start();
  });
  afterEach(() => shop.kill());

  it('prints three curl lines that work, as its root does: typed twice, they place one order and one document', async () => {
    await shop.printed(/curl \S+\/orders$/);
    const lines = shop.output.map(line => line.trim()).filter(line => line.startsWith('curl'));
    expect(lines).toHaveLength(3);
    const { text } = await get(shop, '/');
    for (const path of ['-i /customers/42/orders', '-i /customers/42/documents', '/orders'])
      expect(text).toContain(`curl ${path.replace('/', `${shop.url}/`)}`);
    for (const line of [...lines, ...lines]) {
      const { stdout } = await promisify(execFile)('bash', ['-c', line.replace('curl', 'curl -s')], { cwd: root });
      expect(stdout).not.toBe('');
    }
    expect(await placed(shop)).toHaveLength(1);
    expect((await get(shop, '/customers/42/documents')).text).toMatch(
      /^{"documents":\[{"title":"Invoice","name":"package.json","size":\d+}\]}$/,
    );
  });

  it('answers 201 with the order, its options and where it is, after all that was wrong with it', async () => {
    const bad = await order(shop, 'one', '{"items":[{"sku":"tea","quantity":"two"}]}', '?rush=perhaps');
    const { errors } = JSON.parse(bad.text) as { errors: { name: string }[] };
    const names = errors.map(({ name }) => name);
    expect([bad.status, ...names]).toEqual([400, 'items[0].quantity', 'items[0].unitPrice', 'rush']);
    const { status, headers, text } = await order(shop, 'one', tea.replace('{', '{"note":"gift",'), '?rush=true');
    const { orderId, ...rest } = JSON.parse(text) as Order;
    expect([status, headers.location]).toEqual([201, `/customers/42/orders/${orderId}`]);
    expect(rest).toMatchObject({ total: '9.00', note: 'gift', channel: 'phone', rush: true });
    expect((await get(shop, headers.location ?? '')).text).toBe(text);
  });

  it.each([
    ['SIGTERM', ['SIGTERM']],
    ['one Ctrl-C, which npm passes on a second time', ['SIGINT', 'SIGINT']],
  ] as const)('finishes the requests that have begun on %s, and ends well', async (_, signals) => {
    const sent = request(`${shop.url}/customers/42/orders`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'four', Expect: '100-continue' },
    });
    sent.flushHeaders();
    await once(sent, 'continue');
    const isOpen = (): Promise<boolean> =>
      get(shop, '/').then(
        () => true,
        () => false,
      );
    for (const signal of signals) {
      shop.signal(signal);
      while (await isOpen());
    }
    sent.end(tea);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, await shop.ended()]).toEqual([201, 0]);
  });

  it('ends at the first Ctrl-C while a browser holds a connection that it has sent nothing on', async () => {
    const { port, hostname } = new URL(shop.url);
    const idle = connect(Number(port), hostname);
    await once(idle, 'connect');
    // Answered on a later connection, so the earlier one has been accepted.
    await get(shop, '/');
    await endsAtOnce(shop);
    idle.destroy();
  });

  it('says which variable to change when its port is in use', async () => {
    const { port } = new URL(shop.url);
    expect(await failure({ PORT: port })).toContain(
      `: 1: The shop could not open: Port ${port} is in use. Set PORT to another one: PORT=${Number(port) + 1} npm start.`,
    );
  });
});

it.each([
  ['PORT', '80800', 'not a port. Set PORT to a number from 0 to 65535; 0 takes any free port.'],
  ['LEASE_SECONDS', '0.5', 'not a number of seconds.'],
  ['REDIS_URL', 'localhost:6379', 'not a Redis URL. Write it like redis://localhost:6379,'],
  ['REDIS_URL', 'http://shop:secret@redis', 'not a Redis URL.'],
])('a demo with %s "%s" does not open, and says so in one line', async (name, value, sentence) => {
  const shown = value.replace('secret', '***');
  expect(await failure({ [name]: value })).toContain(
    `: 1: The shop could not open: ${name} is "${shown}", which is ${sentence}`,
  );
});

it('a demo whose HOST is not of this machine does not open, and says so', async () => {
  expect(await failure({ HOST: '192.0.2.1' })).toContain('HOST is "192.0.2.1", which the server cannot listen on');
});

describe('a demo and its Redis', () => {
  let redis: RedisServer;
  let shops: readonly NodeProcess[] = [];
  afterEach(async () => {
    await Promise.all(shops.map(shop => shop.kill()));
    await redis.stop();
  });

  it('says once that it is not there, with the variable to change, answers 503, and ends at the first Ctrl-C', async () => {
    redis = await RedisServer.start();
    await redis.kill();
    const shop = await start({ REDIS_URL: redis.url });
    shops = [shop];
    await shop.printed(/does not answer/);
    expect((await order(shop, 'one')).status).toBe(503);
    expect(shop.output.filter(line => /redis/i.test(line) && !line.startsWith('The shop is open'))).toEqual([
      expect.stringMatching(
        /^The Redis at 127\.0\.0\.1:\d+ does not answer: connect ECONNREFUSED \S+ Until it does, requests get 503\. Start it, or change REDIS_URL\.$/,
      ),
    ]);
    await endsAtOnce(shop);
  });

  it('says that it has no password, or a wrong one, and which variable to change', async () => {
    redis = await RedisServer.start('--requirepass', 'secret');
    const urls = ['', ':wrong@'].map(credentials => redis.url.replace('//', `//${credentials}`));
    shops = await Promise.all(urls.map(REDIS_URL => start({ REDIS_URL })));
    const lines = await Promise.all(shops.map(shop => shop.printed(/change REDIS_URL/)));
    expect(lines).toEqual(
      ['NOAUTH', 'WRONGPASS'].map(code =>
        expect.stringMatching(new RegExp(`^The Redis at 127\\.0\\.0\\.1:\\d+ does not answer: ${code} `)),
      ),
    );
  });
});
