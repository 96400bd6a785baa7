import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import express from 'express';
import { promisify } from 'node:util';
import { configure } from '../../../lib';
import { listen, type Listening } from '../../support/listen';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { example } from './example';

describe('the example of a client', () => {
  let server: Listening;
  let folder: string;
  let charges: number;
  let tries: { readonly key: string | undefined; readonly at: number }[];
  /** What stands in front of the service for each try, in turn; then nothing does. */
  let trouble: RequestHandler[];

  beforeEach(async () => {
    [charges, tries, trouble] = [0, [], []];
    folder = mkdtempSync(join(tmpdir(), 'bindonce-keys-'));
    const { idempotency } = configure({});
    const app = express();
    app.use((req, res, next) => {
      tries.push({ key: req.get('Idempotency-Key'), at: performance.now() });
      const one = trouble[tries.length - 1];
      if (one) one(req, res, next);
      else next();
    });
    app.post('/payments', idempotency(), (_req, res) => {
      res.status(201).send(`charge ${++charges}`);
    });
    app.post('/broken', idempotency(), (_req, res) => {
      res.status(503).send(`out of order ${++charges}`);
    });
    server = await listen(app);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    return server.close();
  });

  /** @param shell what it does before it starts the program. */
  const pay = async (
    path = '/payments',
    { port }: { readonly port: number } = server,
    shell = 'true',
  ): Promise<string> => {
    const args = [example('client/pay.mjs'), `http://127.0.0.1:${port}${path}`, 'tea', '4.50'];
    const options = { timeout: 30_000, env: { ...process.env, KEYS: folder } };
    const command = [`${shell} && exec "$@"`, 'sh', process.execPath, ...args];
    return (await promisify(execFile)('sh', ['-c', ...command], options)).stdout.trim();
  };

  const answer =
    (status: number, headers: Record<string, string> = {}): RequestHandler =>
    (_req, res) => {
      res.set(headers).sendStatus(status);
    };

  it('pays once if the first answer was lost, and gets that answer', async () => {
    const network = await TcpProxy.before(server.port);
    const lost = network.loseAfter(0);
    expect([await pay('/payments', network), charges]).toEqual(['201 charge 1 (replayed)', 1]);
    expect(await lost).toContain('charge 1');
    expect(tries).toHaveLength(2);
    await network.close();
  });

  it('sends the same key with every try, and waits as long as Retry-After says', async () => {
    const soon = new Date(Date.now() + 3_000).toUTCString();
    trouble = [answer(503, { 'Retry-After': '1' }), answer(409, { 'Retry-After': soon }), answer(502)];
    expect([await pay(), charges]).toEqual(['201 charge 1', 1]);
    expect(new Set(tries.map(({ key }) => key)).size).toBe(1);
    expect(tries[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    const [first = 0, second = 0, third = 0] = tries.map(({ at }) => at);
    expect(second - first).toBeGreaterThan(990);
    expect(third).toBeGreaterThan(second);
    expect(tries).toHaveLength(4);
  });

  it.each([400, 401, 402, 404, 409, 422])('stops at a %i, and fails, because nothing is paid', async status => {
    trouble = [answer(status)];
    const stdout = expect.stringMatching(new RegExp(`^${status} `)) as string;
    await expect(pay()).rejects.toMatchObject({ code: 1, stdout });
    expect(tries).toHaveLength(1);
  });

  it('fails at a 500, behind which the payment may have been made, and sends the same key when started again', async () => {
    trouble = [answer(500)];
    await expect(pay()).rejects.toMatchObject({ code: 1, stdout: '500 Internal Server Error \n' });
    expect(readdirSync(folder)).toHaveLength(1);
    expect([await pay(), charges]).toEqual(['201 charge 1', 1]);
    expect([tries.length, new Set(tries.map(({ key }) => key)).size]).toEqual([2, 1]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('stops at a replay of any status, because the handler has answered, and fails if it is a 5xx', async () => {
    await expect(pay('/broken')).rejects.toMatchObject({ code: 1, stdout: '503 out of order 1 (replayed)\n' });
    expect([tries.length, charges, readdirSync(folder)]).toEqual([2, 1, []]);
  });

  it('gives up before a server that asks for more patience than it has, and sends the same key when started again', async () => {
    trouble = [answer(429, { 'Retry-After': '3600' })];
    await expect(pay()).rejects.toMatchObject({ stderr: expect.stringContaining('the answer was 429') as string });
    expect(readdirSync(folder)).toEqual(['bindonce%3Aoperation%3Apay%20tea.json']);
    expect([await pay(), charges]).toEqual(['201 charge 1', 1]);
    expect([tries.length, new Set(tries.map(({ key }) => key)).size]).toEqual([2, 1]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps the key if it dies while it writes, or if the disk is full', async () => {
    trouble = [answer(500)];
    await expect(pay()).rejects.toMatchObject({ code: 1 });
    // The system ends a process that writes to a file more than this.
    await expect(pay('/payments', server, 'ulimit -f 0')).rejects.toThrow();
    expect(tries).toHaveLength(1);
    expect([await pay(), charges]).toEqual(['201 charge 1', 1]);
    expect(new Set(tries.map(({ key }) => key)).size).toBe(1);
  });
});
