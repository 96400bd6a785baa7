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
    shop = await NodeProcess.start(script, { REDIS_URL: '' });
  });
  afterEach(() => shop.kill());

  it('leaves no connection without an end when a process is killed, and opens another process', async () => {
    for (const number of [2, 3, 4]) {
      const asked = Array.from({ length: 50 }, () => send(`${shop.url}/orders`, { method: 'GET' }));
      await Promise.allSettled([send(`${shop.url}/demo/crash`), ...asked]);
      while ((await servedBy(shop)) !== `process ${number}`);
    }
  });
});
