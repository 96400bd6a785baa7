import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import express, { type RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { listen, type Listening } from '../../support/listen';
import { TcpProxy } from '../../support/servers/tcp-proxy';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { example } from './example';

/** That its keys outlive it; what it retries, and for how long, are the specs of the client. */
describe('the example of a client', () => {
  let server: Listening;
  let folder: TemporaryDirectory;
  let charges: number;
  let keys: (string | undefined)[];
  /** The answers that stand in front of the service, in turn; then nothing does. */
  let trouble: number[];

  beforeEach(async () => {
    [charges, keys, trouble] = [0, [], []];
    folder = new TemporaryDirectory();
    const stumbles: RequestHandler = (req, res, next) => {
      keys.push(req.get('Idempotency-Key'));
      const status = trouble[keys.length - 1];
      if (status === undefined) next();
      else res.set(status === 429 ? { 'Retry-After': '3600' } : {}).sendStatus(status);
    };
    const charge: RequestHandler = (_req, res) => void res.status(201).send(`charge ${++charges}`);
    server = await listen(express().post('/payments', stumbles, idempotency({ scope: () => folder.path }), charge));
  });
  afterEach(() => {
    folder.remove();
    return server.close();
  });

  /** @param shell what it does before it starts the program. */
  const pay = async ({ port }: { readonly port: number } = server, shell = 'true'): Promise<string> => {
    const args = [example('client/pay.mjs'), `http://127.0.0.1:${port}/payments`, 'tea', '4.50'];
    const options = { timeout: 30_000, env: { ...process.env, KEYS: folder.path } };
    const command = [`${shell} && exec "$@"`, 'sh', process.execPath, ...args];
    return (await promisify(execFile)('sh', ['-c', ...command], options)).stdout.trim();
  };

  it('pays once if the first answer was lost, and gets that answer', async () => {
    const network = await TcpProxy.before(server.port);
    const lost = network.loseAfter(0);
    expect([await pay(network), charges]).toEqual(['201 charge 1 (replayed)', 1]);
    expect(await lost).toContain('charge 1');
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    await network.close();
  });

  it.each([
    ['at a 500, behind which the payment may have been made', 500, { stdout: '500 Internal Server Error \n' }],
    ['before a server that asks for more patience than it has', 429, { stderr: /the answer was 429/ }],
  ])(
    'fails %s, and sends the same key when started again',
    async (_when, status, { stdout, stderr = /^$/ }: { stdout?: string; stderr?: RegExp }) => {
      trouble = [status];
      await expect(pay()).rejects.toMatchObject({
        code: 1,
        stdout: stdout ?? '',
        stderr: expect.stringMatching(stderr) as string,
      });
      expect(readdirSync(folder.path)).toEqual(['bindonce%3Aoperation%3Apay%20tea.json']);
      expect([await pay(), charges, readdirSync(folder.path)]).toEqual(['201 charge 1', 1, []]);
      expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    },
  );

  it('fails at a 402, because nothing is paid, and keeps no key', async () => {
    trouble = [402];
    const stdout = expect.stringMatching(/^402 /) as string;
    await expect(pay()).rejects.toMatchObject({ code: 1, stdout });
    expect([keys.length, readdirSync(folder.path)]).toEqual([1, []]);
  });

  it('keeps the key if it dies while it writes, or if the disk is full', async () => {
    trouble = [500];
    await expect(pay()).rejects.toMatchObject({ code: 1 });
    // The system ends a process that writes to a file more than this.
    await expect(pay(server, 'ulimit -f 0')).rejects.toThrow();
    expect(keys).toHaveLength(1);
    expect([await pay(), charges, new Set(keys).size]).toEqual(['201 charge 1', 1, 1]);
  });
});
