import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Response } from 'express';
import { idempotency } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';

const request = (path: string, ...headers: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Length: 2', ...headers].join('\r\n') + '\r\n\r\nok';

describe.each(expressVersions)('on %s, pipelined responses', (_name, express) => {
  it.each<[string, (res: Response) => void]>([
    ['ended', res => void res.json({ a: 'é' })],
    [
      'written in pieces of a declared length',
      res => {
        res.set('Content-Length', '6');
        res.write('abc');
        res.end('def');
      },
    ],
    [
      'written with a callback',
      res => {
        res.set('Content-Length', '3');
        res.write('abc', () => {
          res.end();
        });
      },
    ],
  ])('come behind their own 100 Continue: %s', async (_how, respond) => {
    let release: () => void = () => undefined;
    const app = express()
      .post('/slow', (_req, res) => {
        release = () => void res.send('slow');
      })
      .post('/last', (_req, res) => void res.send('last'))
      .post('/', idempotency(), (_req, res) => {
        respond(res);
      });
    const { port } = await serve((req, res) => {
      app(req, res);
      // By then, what is sent between the first and the last waits for its turn.
      if (req.url === '/last')
        setImmediate(() => {
          setImmediate(release);
        });
    });
    const key = `Idempotency-Key: ${randomUUID()}`;
    const expecting = (...headers: readonly string[]): string => request('/', 'Expect: 100-continue', ...headers);
    const statuses = async (): Promise<string[] | undefined> => {
      const socket = connect(port, '127.0.0.1');
      socket.write(request('/slow') + expecting(key) + expecting() + request('/last', 'Connection: close'));
      return (await text(socket)).match(/HTTP\/1\.1 \d+|Replayed/g)?.map(line => line.replace('HTTP/1.1 ', ''));
    };
    expect(await statuses()).toEqual(['200', '100', '200', '100', '400', '200']);
    expect(await statuses()).toEqual(['200', '100', '200', 'Replayed', '100', '400', '200']);
  });
});
