import { once } from 'node:events';
import { connect } from 'node:net';
import type { Response as Answer } from 'supertest';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import { Keyv } from 'keyv';
import { configure, idempotency, int, problemDetails, routeValue, type OnProblem } from '../../lib';
import { serve } from '../support/serve';
import { expressVersions } from '../support/express-versions';
import { ask, problemIn } from '../support/ask';

const UNREAD = {
  name: 'id',
  in: 'route',
  detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
};

/** An error handler that does not look whether the response has begun. Express knows it by its four parameters. */
const answering =
  (text: (error: Error) => string): ErrorRequestHandler =>
  (error, _req, res, next) => {
    if (error) res.status(500).end(text(error as Error));
    else next();
  };

describe.each(expressVersions)('%s', (name, framework) => {
  type Read = (req: Request, res: Response) => unknown;
  const later = Promise.resolve();
  const seen: [how: string, handler: (read: Read) => RequestHandler][] = [
    ['a synchronous handler', read => (req, res) => void read(req, res)],
    ...(name === 'Express 5'
      ? [
          [
            'an asynchronous handler',
            read => (req, res) => later.then(() => void read(req, res)),
          ] as (typeof seen)[number],
        ]
      : []),
  ];
  // Express 4 does not look at promises: a rejection is the application's there, as with every throw. The request is answered.
  const unseen: typeof seen = [
    [
      'an asynchronous handler whose rejection Express does not see',
      read => (req, res) => void later.then(() => read(req, res)).catch(() => undefined),
    ],
  ];
  const behind: [what: string, mount: (app: Express) => unknown][] = [
    ['no error handler', () => undefined],
    ['problemDetails()', app => app.use(problemDetails())],
    ['an error handler that answers whatever was answered', app => app.use(answering(() => 'mine'))],
  ];

  /** The response to `POST /x`, whose `id` is no number. */
  async function answered(
    handler: RequestHandler,
    mount: (app: Express) => unknown = () => undefined,
  ): Promise<Answer> {
    const app = framework().set('env', 'test');
    app.all('/:id', handler);
    mount(app);
    return ask(app, { path: '/x?n=x' });
  }

  it.each(
    [...seen, ...unseen].flatMap(([how, handler]) => behind.map(([what, mount]) => ({ how, handler, what, mount }))),
  )('$how answers a value that cannot be read with its problem, and stops: with $what', async ({ handler, mount }) => {
    let goesOn = false;
    const response = await answered(
      handler(req => (routeValue(req, 'id', int), (goesOn = true))),
      mount,
    );
    expect(problemIn(response)).toMatchObject({
      ...{ type: 'urn:bindonce:validation-failed', status: 400, instance: '/x', errors: [UNREAD] },
    });
    expect([response.status, goesOn]).toEqual([400, false]);
    expect(response.text).not.toMatch(/<|\bat \//);
  });

  const passing: [when: string, OnProblem][] = [
    ['by next', (problem, _req, _res, next) => next(problem)],
    [
      'by throwing',
      problem => {
        throw problem;
      },
    ],
  ];
  it.each(seen.flatMap(([how, handler]) => passing.map(([when, onProblem]) => ({ how, handler, when, onProblem }))))(
    '$how leaves to the error handler, once, what onProblem passes on: $when',
    async ({ handler, onProblem }) => {
      const heard: unknown[] = [];
      const { routeValue: read } = configure({ onProblem });
      const mine: ErrorRequestHandler = (error: Error, _req, res, next) => {
        if (res.headersSent) return next(error);
        heard.push(error.name);
        res.status(418).end('mine');
      };
      const { status, text } = await answered(
        handler(req => read(req, 'id', int)),
        app => app.use(mine),
      );
      expect([status, text, heard]).toEqual([418, 'mine', ['Problem']]);
    },
  );

  describe.each([...seen, ...unseen])('%s', (_how, handler) => {
    it('behind idempotency() the answer is the response of the handler: stored and replayed', async () => {
      let runs = 0;
      const app = framework().set('env', 'test');
      const reads = handler(req => routeValue(req, 'id', int, void runs++));
      app.post('/:id', idempotency({ store: new Keyv() }), reads);
      const again = () => ask(app, { path: '/x', key: 'k', body: 'unread' });
      const responses = [await again(), await again(), await again()];
      expect(responses.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
        [400, undefined],
        [400, 'true'],
        [400, 'true'],
      ]);
      expect([runs, new Set(responses.map(({ text }) => text)).size]).toEqual([1, 1]);
    });

    it('the connection stays in order: after an unread body of 5 MB, the client gets its answer, and so does the next request', async () => {
      const app = framework().set('env', 'test');
      app.post(
        '/:id',
        handler(req => routeValue(req, 'id', int)),
      );
      const { port } = await serve(app);
      const socket = connect(port, '127.0.0.1');
      let received = '';
      socket.on('data', (data: Buffer) => {
        received += data.toString();
      });
      const bytes = 5_000_000;
      socket.write(`POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes));
      socket.write('POST /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      const [hadError] = (await once(socket, 'close')) as [boolean];
      expect([
        hadError,
        received.match(/HTTP\/1.1 400 Bad Request\r\n/g)?.length,
        received.match(/"instance":"\/[xy]"/g),
      ]).toEqual([false, 2, ['"instance":"/x"', '"instance":"/y"']]);
    });
  });

  it('a response that has begun is left as it is, and the problem thrown', async () => {
    let thrown: unknown;
    const { status, text } = await answered((req: Request, res: Response) => {
      res.write('begun');
      try {
        routeValue(req, 'id', int);
      } catch (error) {
        thrown = error;
      }
      res.end();
    });
    expect([status, text]).toEqual([200, 'begun']);
    expect(thrown).toMatchObject({ code: 'validation-failed' });
  });
});

it('a request that Express has not seen has no response: the problem is thrown', () => {
  expect(() => routeValue({ params: { id: 'x' } } as unknown as Request, 'id', int)).toThrow('One value is not valid.');
});
