import { PassThrough, pipeline, Readable } from 'node:stream';
import compression from 'compression';
import type { Request, RequestHandler, Response } from 'express';
import { idempotency } from '../../../lib';
import { send } from '../../support/listen';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed } from '../../support/replays';

type CutOff = (req: Request, res: Response) => void;

function* failing(): Generator<string> {
  yield 'half';
  throw new Error('The source has failed');
}

const cutOffs: [title: string, cutOff: CutOff][] = [
  [
    'destroys it after a write',
    (_req, res) => {
      res.write('half');
      res.destroy();
    },
  ],
  [
    'destroys it before a write',
    (_req, res) => {
      res.destroy();
    },
  ],
  [
    'destroys it in the middle of a Content-Length',
    (_req, res) => {
      res.set('Content-Length', '10').write('half');
      res.destroy();
    },
  ],
  [
    'destroys it at the end of a Content-Length, without an end',
    (_req, res) => {
      res.set('Content-Length', '4').write('half');
      res.destroy();
    },
  ],
  [
    'pipes a source that fails',
    (_req, res) => {
      pipeline(Readable.from(failing()), res, () => undefined);
    },
  ],
  [
    'pipes a source that fails under a Content-Length',
    (_req, res) => {
      res.set('Content-Length', '10');
      pipeline(Readable.from(failing()), res, () => undefined);
    },
  ],
  [
    'pipes a source that is destroyed',
    (_req, res) => {
      const source = new PassThrough();
      pipeline(source, res, () => undefined);
      source.write('half', () => source.destroy());
    },
  ],
  [
    'ends it before its Content-Length',
    (_req, res) => {
      res.set('Content-Length', '10').end('half');
    },
  ],
];

const closings: [title: string, cutOff: CutOff][] = [
  [
    'destroys the socket after a write',
    (req, res) => {
      res.write('half');
      req.socket.destroy();
    },
  ],
  [
    'destroys the socket with an error after a flush',
    (req, res) => {
      res.flushHeaders();
      req.socket.destroy(new Error('no more'));
    },
  ],
  [
    'throws after a write',
    (_req, res) => {
      res.write('half');
      throw new Error('in the middle');
    },
  ],
  [
    'throws after a flush',
    (_req, res) => {
      res.flushHeaders();
      throw new Error('in the middle');
    },
  ],
  [
    'throws after writeHead',
    (_req, res) => {
      res.writeHead(200);
      throw new Error('in the middle');
    },
  ],
  [
    'throws at the end of a Content-Length, without an end',
    (_req, res) => {
      res.set('Content-Length', '4').write('half');
      throw new Error('in the middle');
    },
  ],
];

describe.each(expressVersions)('a response that a handler cuts off on %s', (_version, express) => {
  it.each(cutOffs)(
    'when it %s, is not stored, and the next request runs the handler again',
    async (_title, cutOff) => {
      const log = new EventLog();
      let runs = 0;
      const handler: RequestHandler = (req, res) => {
        if (runs++ === 0) cutOff(req, res);
        else res.send('whole');
      };
      const { url } = await serve(
        express()
          .set('env', 'test')
          .post('/', idempotency({ onEvent: log.onEvent, waitTimeout: 60_000 }), handler),
      );

      await expect(send(url, { headers: keyed('k') })).rejects.toThrow(/aborted|cut off|socket hang up|ECONNRESET/);
      const retry = await send(url, { headers: keyed('k') });
      const replay = await send(url, { headers: keyed('k') });

      expect([retry.text, replay.text]).toEqual(['whole', 'whole']);
      expect(retry.headers).not.toHaveProperty('idempotent-replayed');
      expect(runs).toBe(2);
      expect(log.kinds).toEqual(['not-stored', 'executed', 'replayed']);
    },
    60_000,
  );
});

describe.each(expressVersions)('a response whose connection is closed half-way on %s', (_version, express) => {
  it.each(closings)(
    'when its handler %s, is recorded without a response: nothing runs again',
    async (_title, close) => {
      const log = new EventLog();
      let runs = 0;
      const app = express()
        .set('env', 'test')
        .post('/', idempotency({ onEvent: log.onEvent, leaseDuration: 60 }), (req, res) => {
          runs++;
          return close(req, res);
        });
      const { url } = await serve(app);
      await expect(send(url, { headers: keyed('k') })).rejects.toThrow(/aborted|cut off|socket hang up|ECONNRESET/);
      await log.first('not-stored');
      expect((await send(url, { headers: keyed('k') })).text).toContain('response-unavailable');
      expect(runs).toBe(1);
    },
    60_000,
  );
});

describe('a response that is cut off', () => {
  const [, express] = expressVersions[0] ?? [];

  it.each<[string, RequestHandler[], RequestHandler[]]>([['before us', [compression()], []]])(
    'behind compression mounted %s is not stored',
    async (_title, before, after) => {
      if (!express) throw new Error('There is no Express');
      let runs = 0;
      const app = express().post('/', ...before, idempotency({ waitTimeout: 60_000 }), ...after, (_req, res) => {
        res.type('text').write('x'.repeat(5_000));
        if (runs++ === 0) res.destroy();
        else res.end('whole');
      });
      const { url } = await serve(app);
      await expect(send(url, { headers: keyed('k', { 'Accept-Encoding': 'gzip' }) })).rejects.toThrow(
        /aborted|cut off|socket hang up|ECONNRESET/,
      );
      const retry = await send(url, { headers: keyed('k', { 'Accept-Encoding': 'gzip' }) });
      expect(retry.headers).not.toHaveProperty('idempotent-replayed');
      expect(runs).toBe(2);
    },
    60_000,
  );

  it.each<[string, number, RequestHandler]>([
    ['compression', 201, compression({ threshold: 0 })],
    [
      'a middleware that saves before it ends',
      409,
      (_req, res, next) => {
        const end = res.end.bind(res) as (...given: unknown[]) => Response;
        res.end = ((...given: unknown[]) => {
          setTimeout(() => end(...given), 20);
          return res;
        }) as Response['end'];
        next();
      },
    ],
  ])(
    'by an error after its end, while %s after us holds it, has run: a retry gets %i',
    async (_title, expected, holding) => {
      if (!express) throw new Error('There is no Express');
      const charged = jest.fn();
      const app = express().post('/', idempotency(), holding, (_req, res) => {
        charged();
        res.status(201).json({ paid: 'x'.repeat(99) });
        throw new Error('The audit has failed');
      });
      app.set('env', 'test');
      const { url } = await serve(app);
      const headers = keyed('k', { 'Accept-Encoding': 'gzip' });
      await expect(send(url, { headers })).rejects.toThrow(/aborted|cut off|socket hang up|ECONNRESET/);
      const { status } = await send(url, { headers });
      expect([status, charged.mock.calls.length]).toEqual([expected, 1]);
    },
  );

  it('lets a duplicate that waits for it run', async () => {
    if (!express) throw new Error('There is no Express');
    const log = new EventLog();
    let runs = 0;
    let fail = (): void => undefined;
    const app = express().post('/', idempotency({ onEvent: log.onEvent }), (_req, res) => {
      if (runs++ > 0) return res.send('whole');
      res.write('half');
      fail = () => {
        res.destroy();
      };
    });
    let arrived = 0;
    const { url } = await serve((req, res) => {
      app(req, res);
      if (++arrived === 2)
        setImmediate(() => {
          fail();
        });
    });
    const answers = await Promise.allSettled([send(url, { headers: keyed('k') }), send(url, { headers: keyed('k') })]);
    expect(answers.map(({ status }) => status)).toContain('rejected');
    expect(answers).toContainEqual(
      expect.objectContaining({ value: expect.objectContaining({ text: 'whole' }) as unknown }),
    );
    expect(runs).toBe(2);
  });
});
