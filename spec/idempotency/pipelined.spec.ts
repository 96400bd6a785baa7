import { once } from 'node:events';
import { connect } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { idempotency, memoryLeases, type LeaseStore } from '../../lib';
import { send } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

it.each(expressVersions)(
  'on %s, a held response that comes second on its connection is sent before a server that closes',
  async (_version, express) => {
    const [completing, mayComplete, firstMayEnd] = [signal(), signal(), signal()];
    const leases = memoryLeases();
    const slow: LeaseStore = {
      acquire: (...given) => leases.acquire(...given),
      renew: (...given) => leases.renew(...given),
      release: (...given) => leases.release(...given),
      async complete(...given) {
        completing.happens();
        await mayComplete.happened;
        return leases.complete(...given);
      },
    };
    const app = express()
      .post('/first', (_req, res) => void firstMayEnd.happened.then(() => res.end('first')))
      .post('/', idempotency({ leases: slow }), (_req, res) => void res.end('second'));
    const { port, server } = await serve(app);
    const client = connect(port, '127.0.0.1');
    const host = `Host: 127.0.0.1:${port}\r\nContent-Length: 0\r\n`;
    client.write(`POST /first HTTP/1.1\r\n${host}\r\nPOST / HTTP/1.1\r\n${host}Idempotency-Key: k\r\n\r\n`);
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    await completing.happened;
    firstMayEnd.happens();
    await once(client, 'data');
    server.close();
    setImmediate(() => mayComplete.happens());
    while (!text.includes('second')) await once(client, 'data');
    client.destroy();
  },
);

it.each(expressVersions)(
  'on %s, a handler whose client leaves while its response waits for its turn ends its response, which is replayed',
  async (_version, express) => {
    const [running, gone] = [signal(), signal()];
    const wasDestroyed: boolean[] = [];
    const app = express()
      .use((req, _res, next) => {
        req.socket.once('close', () => {
          // Node destroys the response in a later tick, and emits another `close`.
          setImmediate(() => setImmediate(gone.happens));
        });
        next();
      })
      .post('/slow', () => undefined)
      .post('/', idempotency(), (_req, res) => {
        running.happens();
        void gone.happened.then(() => {
          wasDestroyed.push(res.destroyed);
          pipeline(Readable.from(['a', 'b']), res, () => undefined);
        });
      });
    const { url, port } = await serve(app);
    const client = connect(port, '127.0.0.1');
    const head = (path: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`;
    client.write(head('/slow') + head('/'));
    await running.happened;
    client.destroy();
    const retry = await send(url, { headers: keyed('k'), body: '' });
    expect([retry.status, retry.text, retry.headers['idempotent-replayed']]).toEqual([200, 'ab', 'true']);
    expect(wasDestroyed).toEqual([false]);
  },
);
