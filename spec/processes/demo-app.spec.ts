import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { send, type WireResponse } from '../servers/listen';
import { NodeProcess } from '../servers/node-process';
import { RedisServer } from '../servers/redis-server';

const root = join(__dirname, '../..');
const script = join(root, 'demo-app/dist/server.js');
const tea = JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] });

interface Orders { readonly orders: readonly { readonly orderId: string; readonly total: string }[] }

const order = (shop: NodeProcess, key: string): Promise<WireResponse> =>
  send(`${shop.url}/customers/42/orders`, { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key }, body: tea });
const placed = async (shop: NodeProcess): Promise<Orders['orders']> => (JSON.parse((await send(`${shop.url}/orders`, { method: 'GET' })).text) as Orders).orders;

describe('the demo in memory', () => {
  let shop: NodeProcess;

  beforeEach(async () => { shop = await NodeProcess.start(script, { REDIS_URL: '' }); });
  afterEach(() => shop.kill());

  it('prints three curl lines that work: typed twice, they place one order and one document', async () => {
    await shop.printed(/curl \S+\/orders$/);
    const lines = shop.output.filter(line => line.trim().startsWith('curl'));
    expect(lines).toHaveLength(3);
    const type = async (line: string): Promise<string> => (await promisify(execFile)('bash', ['-c', line.replace('curl', 'curl -s')], { cwd: root })).stdout;
    for (const line of [...lines, ...lines]) expect(await type(line)).not.toBe('');
    expect(await placed(shop)).toHaveLength(1);
    expect(await send(`${shop.url}/customers/42/documents`, { method: 'GET' })).toMatchObject({ text: expect.stringMatching(/^{"documents":\[{"title":"Invoice","name":"package.json","size":\d+}\]}$/) as string });
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
    const { text } = await send(`${shop.url}/customers/42/orders?rush=true`, { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'two', 'X-Channel': 'phone' }, body: tea.replace('{', '{"note":"gift",') });
    expect(JSON.parse(text)).toMatchObject({ note: 'gift', channel: 'phone', rush: true });
  });

  it('says everything that is wrong with an order at once, and lets the same key be used again', async () => {
    const bad = await send(`${shop.url}/customers/42/orders?rush=perhaps`, { headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'three' }, body: '{"items":[{"sku":"tea","quantity":"two"}]}' });
    expect(bad.status).toBe(400);
    expect((JSON.parse(bad.text) as { errors: { name: string }[] }).errors.map(({ name }) => name)).toEqual(['items[0].quantity', 'items[0].unitPrice', 'rush']);
    expect((await order(shop, 'three')).status).toBe(201);
  });

  it('finishes the requests that have begun when it is told to end, and ends well', async () => {
    const sent = request(`${shop.url}/customers/42/orders`, { method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'four', Expect: '100-continue' } });
    sent.flushHeaders();
    await once(sent, 'continue');
    shop.signal('SIGTERM');
    sent.end(tea);
    const [response] = await once(sent, 'response') as [{ statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(201);
    expect(await shop.ended()).toBe(0);
  });

  it('says in one line why it cannot open', async () => {
    const { port } = new URL(shop.url);
    await expect(NodeProcess.start(script, { PORT: port })).rejects.toThrow(/The shop could not open: listen EADDRINUSE/);
  });
});

describe('two demos on one Redis', () => {
  let redis: RedisServer;
  let shops: [NodeProcess, NodeProcess];

  beforeEach(async () => {
    redis = await RedisServer.start();
    const start = (): Promise<NodeProcess> => NodeProcess.start(script, { REDIS_URL: redis.url });
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
    expect(performance.now() - started).toBeLessThan(2_500);
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
