import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send, type WireResponse } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';
import { RedisServer } from '../support/servers/redis-server';

const root = join(__dirname, '../..');
const script = join(root, 'demo-app/dist/server.js');
const tea = JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] });

interface Orders {
  readonly orders: readonly { readonly orderId: string; readonly total: string }[];
}

const order = (shop: NodeProcess, key: string): Promise<WireResponse> =>
  send(`${shop.url}/customers/42/orders`, {
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: tea,
  });
const placed = async (shop: NodeProcess): Promise<Orders['orders']> =>
  (JSON.parse((await send(`${shop.url}/orders`, { method: 'GET' })).text) as Orders).orders;

/** The exit code of a demo that cannot open, and all that it has printed. */
async function failure(settings: Readonly<Record<string, string>>): Promise<string> {
  const started = NodeProcess.start(script, { REDIS_URL: '', ...settings });
  const { message } = await started.then(
    shop => {
      throw new Error(`It has opened at ${shop.url}`);
    },
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

/** Resolves when the demo takes no more connections. */
async function closed({ url }: NodeProcess): Promise<void> {
  while (
    await send(url, { method: 'GET' }).then(
      () => true,
      () => false,
    )
  );
}

describe('the demo in memory', () => {
  let shop: NodeProcess;

  beforeEach(async () => {
    shop = await NodeProcess.start(script, { REDIS_URL: '' });
  });
  afterEach(() => shop.kill());

  it('prints three curl lines that work: typed twice, they place one order and one document', async () => {
    await shop.printed(/curl \S+\/orders$/);
    const lines = shop.output.filter(line => line.trim().startsWith('curl'));
    expect(lines).toHaveLength(3);
    const type = async (line: string): Promise<string> =>
      (await promisify(execFile)('bash', ['-c', line.replace('curl', 'curl -s')], { cwd: root })).stdout;
    for (const line of [...lines, ...lines]) expect(await type(line)).not.toBe('');
    expect(await placed(shop)).toHaveLength(1);
    expect(await send(`${shop.url}/customers/42/documents`, { method: 'GET' })).toMatchObject({
      text: expect.stringMatching(/^{"documents":\[{"title":"Invoice","name":"package.json","size":\d+}\]}$/) as string,
    });
  });

  it('answers 201 with the order and where it is', async () => {
    const { status, headers, text } = await order(shop, 'one');
    const { orderId, total } = JSON.parse(text) as Orders['orders'][number];
    expect(status).toBe(201);
    expect(headers.location).toBe(`/customers/42/orders/${orderId}`);
    expect(total).toBe('9.00');
    expect((await send(`${shop.url}${headers.location ?? ''}`, { method: 'GET' })).text).toBe(text);
  });

  it('takes the optional note, channel and rush', async () => {
    const { text } = await send(`${shop.url}/customers/42/orders?rush=true`, {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'two', 'X-Channel': 'phone' },
      body: tea.replace('{', '{"note":"gift",'),
    });
    expect(JSON.parse(text)).toMatchObject({ note: 'gift', channel: 'phone', rush: true });
  });

  it('says everything that is wrong with an order at once, and lets the same key be used again', async () => {
    const bad = await send(`${shop.url}/customers/42/orders?rush=perhaps`, {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'three' },
      body: '{"items":[{"sku":"tea","quantity":"two"}]}',
    });
    expect(bad.status).toBe(400);
    expect((JSON.parse(bad.text) as { errors: { name: string }[] }).errors.map(({ name }) => name)).toEqual([
      'items[0].quantity',
      'items[0].unitPrice',
      'rush',
    ]);
    expect((await order(shop, 'three')).status).toBe(201);
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
    for (const signal of signals) {
      shop.signal(signal);
      await closed(shop);
    }
    sent.end(tea);
    const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(await shop.ended()).toBe(0);
  });

  it('lists its endpoints at its root', async () => {
    const { status, text, headers } = await send(shop.url, { method: 'GET' });
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain/);
    for (const path of ['customers/42/orders', 'customers/42/documents', 'orders'])
      expect(text).toContain(`curl ${path === 'orders' ? '' : '-i '}${shop.url}/${path}`);
  });

  it('ends at the first Ctrl-C', async () => {
    await endsAtOnce(shop);
  });

  it('ends at the first Ctrl-C while a browser holds a connection that it has sent nothing on', async () => {
    const { port, hostname } = new URL(shop.url);
    const idle = connect(Number(port), hostname);
    await once(idle, 'connect');
    // Answered on a later connection, so the earlier one has been accepted.
    await send(shop.url, { method: 'GET' });
    await endsAtOnce(shop);
    idle.destroy();
  });

  it('says which variable to change when its port is in use', async () => {
    const { port } = new URL(shop.url);
    const taken = new RegExp(
      `: 1: The shop could not open: Port ${port} is in use. Set PORT to another one: PORT=${Number(port) + 1} npm start.$`,
    );
    await expect(failure({ PORT: port })).resolves.toMatch(taken);
  });
});

describe('a demo with a wrong setting', () => {
  it.each([
    [
      { PORT: '80800' },
      'PORT is "80800", which is not a port. Set PORT to a number from 0 to 65535; 0 takes any free port.',
    ],
    [{ PORT: 'http' }, 'PORT is "http", which is not a port.'],
    [{ LEASE_SECONDS: '0.5' }, 'LEASE_SECONDS is "0.5", which is not a number of seconds.'],
    [{ HOST: '192.0.2.1' }, 'HOST is "192.0.2.1", which the server cannot listen on'],
    [
      { REDIS_URL: 'localhost:6379' },
      'REDIS_URL is "localhost:6379", which is not a Redis URL. Write it like redis://localhost:6379,',
    ],
    [{ REDIS_URL: 'somewhere' }, 'REDIS_URL is "somewhere", which is not a Redis URL.'],
    [{ REDIS_URL: 'http://shop:secret@redis' }, 'REDIS_URL is "http://shop:***@redis", which is not a Redis URL.'],
  ])('does not open for %p, and says so in one line', async (settings, sentence) => {
    expect(await failure(settings)).toContain(`: 1: The shop could not open: ${sentence}`);
  });
});

describe('a demo whose Redis is not there', () => {
  let redis: RedisServer;
  let shop: NodeProcess;

  beforeEach(async () => {
    redis = await RedisServer.start();
    await redis.kill();
    shop = await NodeProcess.start(script, { REDIS_URL: redis.url });
    await shop.printed(/does not answer/);
  });
  afterEach(async () => {
    await shop.kill();
    await redis.stop();
  });
  const complaints = (): string[] =>
    shop.output.filter(line => /redis/i.test(line) && !line.startsWith('The shop is open'));

  it('says so once, in a sentence with the variable to change, and answers 503', async () => {
    expect((await order(shop, 'one')).status).toBe(503);
    expect(complaints()).toEqual([
      expect.stringMatching(
        /^The Redis at 127\.0\.0\.1:\d+ does not answer: connect ECONNREFUSED \S+ Until it does, requests get 503\. Start it, or change REDIS_URL\.$/,
      ),
    ]);
  });

  it('ends at the first Ctrl-C, also after a request has waited for the Redis', async () => {
    expect((await order(shop, 'one')).status).toBe(503);
    await endsAtOnce(shop);
  });
});

describe('a demo without the right password of its Redis', () => {
  let redis: RedisServer;

  beforeEach(async () => {
    redis = await RedisServer.start('--requirepass', 'secret');
  });
  afterEach(() => redis.stop());

  it.each([
    ['', 'NOAUTH'],
    [':wrong@', 'WRONGPASS'],
  ])('says so, and which variable to change: %p is %s', async (credentials, code) => {
    const shop = await NodeProcess.start(script, { REDIS_URL: redis.url.replace('//', `//${credentials}`) });
    await expect(shop.printed(/change REDIS_URL/)).resolves.toMatch(
      new RegExp(`^The Redis at 127\\.0\\.0\\.1:\\d+ does not answer: ${code} `),
    );
    await shop.kill();
  });
});

describe('two demos on one Redis', () => {
  let redis: RedisServer;
  let shops: [NodeProcess, NodeProcess];

  beforeEach(async () => {
    redis = await RedisServer.start();
    // Requests that a busy machine leaves waiting must not lose their leases.
    const start = (): Promise<NodeProcess> => NodeProcess.start(script, { REDIS_URL: redis.url, LEASE_SECONDS: '60' });
    shops = await Promise.all([start(), start()]);
  });
  afterEach(async () => {
    await Promise.all(shops.map(shop => shop.kill()));
    await redis.stop();
  });

  it('place one order for 200 concurrent duplicates and give 200 equal answers', async () => {
    const [a, b] = shops;
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => order(index % 2 ? a : b, 'same')));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    expect(await placed(a)).toHaveLength(1);
    expect(await placed(b)).toEqual(await placed(a));
  });

  it('answer 503 while Redis is killed in mid-flight, stay up, and place nothing twice when it is back', async () => {
    const [a, b] = shops;
    await Promise.all(shops.map(shop => order(shop, 'warm')));
    const flying = Promise.all([order(a, 'flying'), order(b, 'flying')]);
    await redis.kill();
    const started = performance.now();
    expect((await order(a, 'other')).status).toBe(503);
    expect(performance.now() - started).toBeLessThan(20_000);
    for (const { status } of await flying) expect(status).toBe(503);
    await redis.up();
    const retry = async (shop: NodeProcess, key: string): Promise<WireResponse> => {
      const answer = await order(shop, key);
      return answer.status === 503 ? retry(shop, key) : answer;
    };
    const answers = await Promise.all([retry(a, 'flying'), retry(b, 'flying'), retry(a, 'other'), retry(b, 'other')]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await placed(a)).toHaveLength(2);
  });
});
