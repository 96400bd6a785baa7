import morgan from 'morgan';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import onFinished from 'on-finished';
import { idempotency } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { RawClient } from '../../support/raw-client';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

type Send = (res: Response, next: NextFunction) => void;

const FILE = 'finish-listeners.spec.ts';
const answers: [string, Send][] = [
  ['res.sendFile()', res => void res.sendFile(FILE, { root: __dirname })],
  [
    'res.sendFile() with a callback',
    (res, next) => {
      res.sendFile(FILE, { root: __dirname }, error => {
        if (error) next(error);
      });
    },
  ],
  [
    'res.download() with a callback',
    (res, next) => {
      res.download(FILE, 'spec.ts', { root: __dirname }, error => {
        if (error) next(error);
      });
    },
  ],
];
/** When the client leaves. */
const moments: [string, (client: RawClient, req: Request, answer: () => void) => void][] = [
  [
    'after it was called',
    (client, _req, answer) => {
      answer();
      client.leave();
    },
  ],
  [
    'and it is called when node has read the end of the connection',
    (client, req, answer) => {
      req.res?.socket?.once('end', () => {
        process.nextTick(answer);
      });
      client.socket.end();
    },
  ],
  [
    'and it is called when the connection is destroyed, and node has not said so',
    (_client, { res }, answer) => {
      res?.socket?.destroy();
      process.nextTick(answer);
    },
  ],
];

describe.each(expressVersions)('on %s', (_version, express) => {
  const around: [string, RequestHandler[]][] = [
    ['', []],
    [' behind morgan', [morgan('tiny', { stream: { write: () => undefined } })]],
  ];
  const rows = around.flatMap(([where, before]) =>
    answers.flatMap(([title, answer]) =>
      moments.map(([when, leave]) => ({ where, before, title, answer, when, leave })),
    ),
  );

  it.each(rows)(
    '$title$where goes on if the client leaves $when, and a retry gets the file',
    async ({ before, answer, leave }) => {
      let runs = 0;
      const log = new EventLog();
      const app = express().post('/', ...before, idempotency({ onEvent: log.onEvent }), (req, res, next) => {
        runs++;
        leave(client, req, () => {
          answer(res, next);
        });
      });
      const { port, url } = await serve(app);
      const client = new RawClient(port);
      await client.send(
        `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`,
      );
      await log.first('executed');
      const { status, text } = await send(url, { headers: keyed('k') });
      expect([status, text.startsWith('import'), runs]).toEqual([200, true, 1]);
    },
  );

  it('an earlier middleware that closes the connection in two steps has res.socket for both', async () => {
    const [begun, closed] = [signal(), signal<boolean>()];
    const app = express().post(
      '/',
      (_req, res, next) => {
        void begun.happened.then(() => {
          res.socket?.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n');
          closed.happens(res.socket !== null);
          res.socket?.destroySoon();
        });
        next();
      },
      idempotency(),
      () => {
        begun.happens();
      },
    );
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`);
    expect(await closed.happened).toBe(true);
    await client.closed();
    expect(client.text).toMatch(/^HTTP\/1.1 503/);
  });

  it('listeners of on-finished and of res are told in the order in which they were added', async () => {
    const told: string[] = [];
    const app = express().post('/', idempotency(), (_req, res) => {
      onFinished(res, () => {
        told.push('onFinished');
      });
      res.once('finish', () => {
        told.push('finish');
      });
      res.send('done');
    });
    const { url } = await serve(app);
    await send(url, { headers: keyed('k') });
    expect(told).toEqual(['onFinished', 'finish']);
  });

  it('listeners that on-finished gets behind idempotency() are told when res closes, those before it when the client leaves', async () => {
    const told: string[] = [];
    const left = signal();
    const over = signal();
    const app = express().post(
      '/',
      (_req, res, next) => {
        onFinished(res, () => {
          told.push('before');
          left.happens();
        });
        next();
      },
      idempotency(),
      (_req, res) => {
        onFinished(res, (error, { writableFinished }) => {
          told.push(`behind: ${error}, ${writableFinished}`);
        });
        res.once('close', () => {
          told.push('close');
          setImmediate(over.happens);
        });
        client.leave();
        void left.happened.then(() => {
          told.push('responds');
          res.send('done');
        });
      },
    );
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n`);
    await over.happened;
    expect(told).toEqual(['before', 'responds', 'behind: null, true', 'close']);
  });
});
