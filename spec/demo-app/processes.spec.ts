import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { send } from '../support/listen';
import { NodeProcess } from '../support/servers/node-process';

const script = join(__dirname, '../../demo-app/dist/server.js');

/** The process that answers; undefined if it is killed before it does. */
const servedBy = ({ url }: NodeProcess): Promise<unknown> =>
  send(`${url}/customers/1/orders/1`, { method: 'GET' }).then(
    ({ headers }) => headers['x-served-by'],
    () => undefined,
  );

describe('the server of the demo', () => {
  let shop: NodeProcess;

  beforeEach(async () => {
    shop = await NodeProcess.start(script, { REDIS_URL: '', SHOP_FILE: ':memory:' });
  });
  afterEach(() => shop.kill());

  it('leaves no connection without an end when a process is killed, and opens another process', async () => {
    for (const number of [2, 3, 4]) {
      const asked = Array.from({ length: 50 }, () => send(`${shop.url}/orders`, { method: 'GET' }));
      await Promise.allSettled([send(`${shop.url}/demo/crash`), ...asked]);
      while ((await servedBy(shop)) !== `process ${number}`);
    }
  });

  it('loses nothing in a restart where node:sqlite keeps its orders and keys in a file, and says where they are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bindonce-shop-'));
    const file = join(folder, 'shop.db');
    const place = async (): Promise<unknown[]> => {
      const restarted = await NodeProcess.start(script, { REDIS_URL: '', SHOP_FILE: file });
      const { url, output } = restarted;
      const order = JSON.stringify({ items: [{ sku: 'tea', quantity: 2, unitPrice: 4.5 }] });
      const headers = { 'Idempotency-Key': 'restart', 'Content-Type': 'application/json' };
      const answer = await send(`${url}/customers/42/orders`, { headers, body: order });
      const { text } = await send(`${url}/orders`, { method: 'GET' });
      await restarted.kill();
      const { orders } = JSON.parse(text) as { orders: unknown[] };
      return [output.some(line => line.includes(file)), answer.headers['idempotent-replayed'], orders.length];
    };
    const isKept = process.getBuiltinModule('node:sqlite') !== undefined;
    expect([await place(), await place()]).toEqual([
      [isKept, undefined, 1],
      [isKept, isKept ? 'true' : undefined, 1],
    ]);
    rmSync(folder, { recursive: true });
  });
});
