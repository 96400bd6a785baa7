import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import morgan from 'morgan';
import multer from 'multer';
import stoppable from 'stoppable';
import { idempotency } from '../../../lib';
import { isExchangeOver } from '../../../lib/http/exchange-end';
import { send } from '../../support/listen';
import { makeCertificate } from '../../support/servers/redis-certificate';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';
import { keyed } from '../../support/replays';

const post = (port: number, key: string, more = ''): string =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: ${key}\r\nContent-Length: 0\r\n${more}\r\n`;

/** Whether the client gets no whole response. */
const isCutOff = (url: string): Promise<boolean> =>
  new Promise(resolve => {
    let isComplete = false;
    const sent = request(url, { method: 'POST', headers: keyed('k'), agent: false });
    sent.on('response', response => {
      response
        .on('error', () => undefined)
        .on('end', () => {
          isComplete = response.complete;
        })
        .resume();
    });
    sent
      .on('error', () => undefined)
      .on('close', () => {
        resolve(!isComplete);
      })
      .end();
  });

/** How a connection closes on which a handler writes its response. */
const closings: [title: string, close: (server: Server, client: Socket) => void][] = [
  [
    'the client leaves',
    (_server, client) => {
      client.destroy();
    },
  ],
  [
    'the server closes all connections',
    server => {
      server.closeAllConnections();
    },
  ],
  ['the server finds it idle for too long', () => undefined],
  [
    'node answers garbage that the client has sent after its request',
    (_server, client) => {
      client.write('garbage\r\n\r\n');
    },
  ],
];

const begins: [title: string, begin: (res: Response) => void][] = [
  [
    'has written half of it',
    res => {
      res.write('half, ');
    },
  ],
  [
    'has written its head',
    res => {
      res.flushHeaders();
    },
  ],
  ['has not begun it', () => undefined],
];

describe.each(expressVersions)('on %s, a connection that closes', (_version, express) => {
  it.each(closings.flatMap(([closing, close]) => begins.map(([begun, begin]) => ({ closing, close, begun, begin }))))(
    'because $closing, while the handler $begun, is a client that has gone: the handler goes on and is stored',
    async ({ closing, close, begin }) => {
      const log = new EventLog();
      const [running, gone] = [signal<Request>(), signal()];
      let runs = 0;
      const app = express().post('/', idempotency({ onEvent: log.onEvent, waitTimeout: 60_000 }), (req, res) => {
        if (++runs === 1 && closing.includes('idle')) res.socket?.setTimeout(100);
        res.socket?.once('close', () => {
          gone.happens();
        });
        begin(res);
        running.happens(req);
        void gone.happened.then(() => res.end('whole'));
      });
      const { url, port, server } = await serve(app);
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      client.write(post(port, 'k'));
      const {
        idempotency: { signal: lost },
      } = await running.happened;
      close(server, client);
      await log.first('executed');
      const retry = await send(url, { headers: keyed('k') });
      expect([retry.text, retry.headers['idempotent-replayed'], runs, lost.aborted]).toEqual([
        expect.stringMatching(/^(half, )?whole$/),
        'true',
        1,
        false,
      ]);
    },
    60_000,
  );

  it.each<[string, (req: Request) => unknown]>([
    ['req.destroy()', req => req.destroy()],
    ['req.socket.destroy()', req => req.socket.destroy()],
    [
      'req.socket.destroySoon()',
      req => {
        req.socket.destroySoon();
      },
    ],
    ['req.socket.resetAndDestroy()', req => req.socket.resetAndDestroy()],
    ['req.connection.destroy()', req => (req as unknown as { connection: Socket }).connection.destroy()],
    ['req.client.destroy()', req => (req as unknown as { client: Socket }).client.destroy()],
    ['a method of the socket that returns it, then destroy()', req => req.socket.setNoDelay().destroy()],
  ])(
    'by the handler, with %s, is the handler giving up: nothing is stored, the key is free',
    async (_title, giveUp) => {
      for (const [, begin] of begins) {
        const log = new EventLog();
        let runs = 0;
        const app = express().post('/', idempotency({ onEvent: log.onEvent, waitTimeout: 60_000 }), (req, res) => {
          begin(res);
          if (++runs === 1) giveUp(req);
          else res.end('whole');
        });
        const { url } = await serve(app);
        expect(await isCutOff(url)).toBe(true);
        const retry = await send(url, { headers: keyed('k') });
        expect([retry.text.endsWith('whole'), retry.headers['idempotent-replayed'], runs]).toEqual([
          true,
          undefined,
          2,
        ]);
        expect(log.kinds).toEqual(['not-stored', 'executed']);
      }
    },
    60_000,
  );

  it('by one handler takes no other request on it for given up: that one goes on and is stored', async () => {
    const log = new EventLog();
    const both = signal();
    const requests: Request[] = [];
    const app = express().post('/', idempotency({ onEvent: log.onEvent }), (req, res) => {
      res.socket?.once('close', () => {
        if (req.idempotency.key === 'a') res.send('done');
      });
      if (requests.push(req) === 2) both.happens();
    });
    const { url, port } = await serve(app);
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    client.write(post(port, 'a') + post(port, 'b'));
    await both.happened;
    requests.find(({ idempotency: { key } }) => key === 'b')?.socket.destroy();
    await Promise.all([log.first('executed'), log.first('not-stored')]);
    expect(log.events.map(({ kind, key }) => [key, kind]).sort()).toEqual([
      ['a', 'executed'],
      ['b', 'not-stored'],
    ]);
    expect((await send(url, { headers: keyed('a') })).text).toBe('done');
  }, 60_000);
});

describe.each(expressVersions)(
  'on %s, while the response is held open for a client that has gone,',
  (_version, express) => {
    it('its exchange is not over, and its socket looks alive; then it is over', async () => {
      const [running, gone] = [signal<[Request, Response]>(), signal()];
      const log = new EventLog();
      const app = express().post('/', idempotency({ onEvent: log.onEvent }), (req, res) => {
        res.socket?.once('close', () => {
          gone.happens();
        });
        running.happens([req, res]);
      });
      const { port } = await serve(app);
      const client = connect(port, '127.0.0.1');
      client.write(post(port, 'k'));
      const [req, res] = await running.happened;
      client.destroy();
      await gone.happened;
      await new Promise(setImmediate);
      const look = (): unknown[] => [
        isExchangeOver(req, res),
        req.socket.destroyed,
        req.socket.readable,
        res.destroyed,
        req.destroyed,
      ];
      expect(look()).toEqual([false, false, true, false, false]);
      const closed = Promise.all([once(res, 'close'), once(req, 'close')]);
      res.end();
      await closed;
      expect(look()).toEqual([true, true, false, true, true]);
    }, 60_000);

    it.each<[string, (version: typeof express) => RequestHandler, string, string]>([
      ['express.json()', version => version.json(), 'application/json', '{"a":"1"}'],
      [
        'express.urlencoded()',
        version => version.urlencoded({ extended: false }),
        'application/x-www-form-urlencoded',
        'a=1',
      ],
      [
        'multer',
        () => multer().none(),
        'multipart/form-data; boundary=x',
        '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
      ],
    ])(
      '%s reads the body of its request',
      async (_title, parser, type, body) => {
        const [running, gone] = [signal(), signal()];
        const log = new EventLog();
        const app = express().post(
          '/',
          idempotency({ onEvent: log.onEvent }),
          (_req, res, next) => {
            res.socket?.once('close', () => {
              gone.happens();
            });
            running.happens();
            void gone.happened.then(() => {
              setImmediate(next);
            });
          },
          parser(express),
          (req, res) => {
            res.json({ got: (req.body as { a?: string } | undefined)?.a });
          },
        );
        const { url, port } = await serve(app);
        const client = connect(port, '127.0.0.1');
        const headers = keyed('k', { 'Content-Type': type });
        client.write(
          `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
        await running.happened;
        client.destroy();
        await log.first('executed');
        expect((await send(url, { headers, body })).text).toBe('{"got":"1"}');
      },
      60_000,
    );
  },
);

describe.each(expressVersions)('on %s, what a handler sees of its connection', (_version, express) => {
  it('is the connection: its address, its listeners, what is set on it, its methods', async () => {
    const lines: string[] = [];
    const seen: unknown[] = [];
    const app = express().post(
      '/',
      idempotency(),
      morgan(':remote-addr', {
        stream: {
          write: line => {
            lines.push(line.trim());
          },
        },
      }),
      (req, res) => {
        const { socket } = req;
        socket.setKeepAlive(true).setTimeout(5_000, () => undefined);
        Object.assign(socket, { mark: 'mine', act: seen });
        seen.push(
          req.ip,
          req.secure,
          socket.remotePort === res.socket?.remotePort,
          socket.on === req.socket.on,
          (res.socket as unknown as { mark: string }).mark,
        );
        seen.push(
          socket instanceof Object.getPrototypeOf(res.socket).constructor,
          (socket as unknown as { act: unknown }).act === seen,
          socket.constructor.name,
          socket.destroyed,
        );
        res.end();
      },
    );
    const { port } = await serve(app);
    const client = connect(port, '127.0.0.1');
    client.write(post(port, 'k', 'Connection: close\r\n'));
    let text = '';
    for await (const chunk of client) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(seen).toEqual(['127.0.0.1', false, true, true, 'mine', true, true, 'Socket', false]);
    expect(lines).toEqual(['127.0.0.1']);
  });

  it('is the connection, also if an application has defined a getter for it', async () => {
    const app = express().post(
      '/',
      (req, _res, next) => {
        const { socket } = req;
        Object.defineProperty(req, 'socket', { get: () => socket, configurable: true });
        next();
      },
      idempotency(),
      (req, res) => res.json({ address: req.socket.remoteAddress }),
    );
    const { text } = await send((await serve(app)).url, { headers: { 'Idempotency-Key': 'k' } });
    expect(JSON.parse(text)).toEqual({ address: '127.0.0.1' });
  });

  it('is encrypted over TLS', async () => {
    const { key, authority: cert, remove } = makeCertificate();
    const app = express().post('/', idempotency(), (req, res) => {
      res.json([req.secure, req.protocol, (req.socket as unknown as { getProtocol(): string }).getProtocol()]);
    });
    const server = createHttpsServer({ key, cert }, app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    client.write(post(port, 'k', 'Connection: close\r\n'));
    let text = '';
    for await (const chunk of client) text += String(chunk);
    server.close();
    remove();
    expect(text).toMatch(/\[true,"https","TLSv1\.\d"\]$/);
  });
});

describe.each(expressVersions)('a server that counts requests by req.socket, on %s', (_version, express) => {
  it('lets a running handler end before it stops (stoppable)', async () => {
    const begun = signal();
    const done = signal();
    const app = express().post('/', idempotency(), (_req, res) => {
      begun.happens();
      void done.happened.then(() => res.send('done'));
    });
    const server = stoppable(createServer(app), 20_000);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answered = send(`http://127.0.0.1:${port}`, { headers: keyed(randomUUID()) });
    await begun.happened;
    const stopped = new Promise(resolve => {
      server.stop((_error, isGraceful) => {
        resolve(isGraceful);
      });
    });
    // Stoppable looks at its counts in the next turn of the event loop.
    for (let turn = 0; turn < 2; turn++) await new Promise(resolve => setImmediate(resolve));
    done.happens();
    expect([(await answered).text, await stopped]).toEqual(['done', true]);
  });

  it('finds the same socket when a request begins and when it is over', async () => {
    const sockets = new Set<Socket>();
    const app = express().post('/', idempotency(), (_req, res) => {
      res.send('done');
    });
    const server = createServer(app);
    server.on('request', (req, res) => {
      sockets.add(req.socket);
      const note = (): unknown => sockets.add(req.socket).add((req as unknown as { client: Socket }).client);
      res.on('finish', note).on('close', note);
    });
    const { url } = await serve((req, res) => server.emit('request', req, res));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const key of ['a', 'b', 'b']) {
      const sent = request(url, { method: 'POST', headers: keyed(key), agent }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
    }
    agent.destroy();
    expect(sockets.size).toBe(1);
  });
});
