import { once } from 'node:events';
import { connect } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { configure, dto, int, Problem, problemDetails, queryValue, routeParam, routeValue } from '../../lib';
import type { OnProblem } from '../../lib';
import { refuse } from '../../lib/problems/answer';
import { serve } from '../support/serve';
import { expressVersions } from '../support/express-versions';
import { ask, problemIn } from '../support/ask';

class Item extends dto({ n: int }) {}
class Charge extends dto({ amount: routeParam(int) }) {}
const passOn: OnProblem = (problem, _req, _res, next) => {
  next(problem);
};
const throwIt: OnProblem = problem => {
  throw problem;
};
const answerIt: OnProblem = (problem, _req, res) => {
  res.status(problem.status).json({ mine: problem.code });
};
/** An error handler that does not look whether the response has begun. Express knows it by its four parameters. */
const careless: ErrorRequestHandler = (error, _req, res, next) => {
  if (error) res.status(500).end('mine');
  else next();
};
const UNREAD = {
  name: 'id',
  in: 'route',
  detail: 'The value "x" is not a whole number from -2147483648 to 2147483647.',
};

type Read = (req: Request) => unknown;
const later = Promise.resolve();
const handlers: readonly [how: string, isSeen: boolean, handler: (read: Read) => RequestHandler][] = [
  ['a synchronous handler', true, read => req => void read(req)],
  ['an asynchronous handler', true, read => async req => void (await later.then(() => read(req)))],
  // As with every throw in Express 4, the rejection is the application's. The request is answered.
  ['one whose rejection Express does not see', false, read => req => void later.then(() => read(req)).catch(() => 0)],
];
const behind: readonly [what: string, mount: (app: Express) => unknown][] = [
  ['no error handler', () => undefined],
  ['problemDetails()', app => app.use(problemDetails())],
  ['an error handler that answers whatever was answered', app => app.use(careless)],
];

describe.each(expressVersions)('%s', (version, framework) => {
  const kinds = handlers.filter(([how]) => version === 'Express 5' || how !== 'an asynchronous handler');

  describe.each(kinds)('a value that cannot be read by %s', (_how, isSeen, handler) => {
    it.each(behind)('is answered with its problem, and stops it: with %s', async (_what, mount) => {
      let goesOn = false;
      const read = handler(req => {
        routeValue(req, 'id', int);
        goesOn = true;
      });
      const app = framework().set('env', 'test').all('/:id', read);
      mount(app);
      const response = await ask(app, { path: '/x?n=x' });
      const type = 'urn:bindonce:validation-failed';
      expect(problemIn(response)).toMatchObject({ type, status: 400, instance: '/x', errors: [UNREAD] });
      expect([response.status, goesOn]).toEqual([400, false]);
      expect(response.text).not.toMatch(/<|\bat \//);
    });

    // Where Express does not see the throw, it does not see what is passed on either.
    if (isSeen)
      it.each([passOn, throwIt])(
        'is left to the error handler, once, if onProblem passes it on: %#',
        async (...[onProblem]) => {
          const seen: unknown[] = [];
          const { routeValue: read } = configure({ onProblem });
          const failed: ErrorRequestHandler = (error: Error, _req, res, next) => {
            if (res.headersSent) return next(error);
            seen.push(error.name);
            res.status(418).end('mine');
          };
          const app = framework().all(
            '/:id',
            handler(req => read(req, 'id', int)),
          );
          const { status, text } = await ask(app.use(failed), { path: '/x' });
          expect([status, text, seen]).toEqual([418, 'mine', ['Problem']]);
        },
      );

    it('leaves the connection in order: after an unread body of 5 MB, the next request is answered, too', async () => {
      const app = framework().set('env', 'test');
      app.post(
        '/:id',
        handler(req => routeValue(req, 'id', int)),
      );
      const socket = connect((await serve(app)).port, '127.0.0.1');
      let received = '';
      socket.on('data', (data: Buffer) => (received += data.toString()));
      socket.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n');
      socket.write(Buffer.alloc(5_000_000));
      socket.write('POST /y HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      const [hadError] = (await once(socket, 'close')) as [boolean];
      const answers = [
        received.match(/HTTP\/1.1 400 Bad Request\r\n/g)?.length,
        received.match(/"instance":"\/[xy]"/g),
      ];
      expect([hadError, ...answers]).toEqual([false, 2, ['"instance":"/x"', '"instance":"/y"']]);
    });
  });

  it('a response that has begun is left as it is, and the problem thrown', async () => {
    let thrown: unknown;
    const app = framework().post('/:id', (req, res) => {
      res.write('begun');
      try {
        routeValue(req, 'id', int);
      } catch (error) {
        thrown = error;
      }
      res.end();
    });
    expect(await ask(app, { path: '/x' })).toMatchObject({ status: 200, text: 'begun' });
    expect(thrown).toMatchObject({ code: 'validation-failed' });
  });

  describe.each<[string, OnProblem | undefined]>([
    ['without onProblem', undefined],
    ['with an onProblem that passes problems on', passOn],
    ['with an onProblem that answers', answerIt],
  ])('%s', (_what, onProblem) => {
    const configured = () => configure({ idempotency: { store: new Keyv() }, ...(onProblem && { onProblem }) });
    const own = (): Problem => new Problem('validation-failed', 'The card is blocked.');

    it.each<[string, RequestHandler]>([
      [
        'a Problem that it throws',
        () => {
          throw own();
        },
      ],
      ['a Problem that it passes on', (_req, _res, next) => next(own())],
      ['a value that it asks for and that is missing', req => void queryValue(req, 'receipt', int)],
      ...kinds.map(([how, , handler]): [string, RequestHandler] => [
        how,
        handler(req => queryValue(req, 'receipt', int)),
      ]),
    ])('the response of a handler is %s: three duplicates, one run', async (_how, fail) => {
      let charges = 0;
      const { idempotency, bindRequest } = configured();
      const app = framework().set('env', 'test');
      app.post('/:amount', idempotency(), bindRequest(Charge) as RequestHandler, (req, res, next) => {
        charges++;
        return fail(req, res, next);
      });
      app.use(problemDetails());
      const answers: unknown[] = [];
      for (let time = 0; time < 3; time++) {
        const { status, headers } = await ask(app, { path: '/5', key: 'k' });
        answers.push(`${status} ${headers['idempotent-replayed']}`);
      }
      expect([charges, answers]).toEqual([1, ['400 undefined', '400 true', '400 true']]);
    });

    it('a request that bindRequest refuses leaves its key free: the corrected one runs', async () => {
      const { idempotency, bindRequest } = configured();
      const app = framework().post('/', idempotency(), bindRequest(Item), (req, res) => void res.json(req.dto.n));
      app.use(problemDetails());
      for (let time = 0; time < 2; time++) {
        const { status, headers } = await ask(app, { key: 'k', json: {} });
        expect([status, headers['idempotent-replayed']]).toEqual([400, undefined]);
      }
      expect((await ask(app, { key: 'k', json: { n: 1 } })).text).toBe('1');
    });

    it('the type of each refusal leads to its documentation, with a problemTypeBase', async () => {
      const base = 'https://docs.example.com/problems#';
      const shown: OnProblem | undefined = onProblem === answerIt ? undefined : onProblem;
      const { idempotency, bindRequest, ...read } = configure({
        problemTypeBase: base,
        ...(shown && { onProblem: shown }),
      });
      const end: RequestHandler = (_req, res) => void res.end();
      const app = framework()
        .post('/guarded', idempotency(), end)
        .post('/bound', bindRequest(Item) as RequestHandler, end);
      app.post('/value', req => void read.queryValue(req, 'n', int)).use(problemDetails());
      const answers = await Promise.all(['/guarded', '/bound', '/value'].map(path => ask(app, { path })));
      const codes = ['key-missing', 'validation-failed', 'validation-failed'];
      expect(answers.map(answer => problemIn(answer)?.type)).toEqual(codes.map(code => base + code));
    });
  });
});

it('a request that Express has not seen has no response: the problem is thrown', () => {
  expect(() => routeValue({ params: { id: 'x' } } as unknown as Request, 'id', int)).toThrow('One value is not valid.');
});

it('a value of another library in req.idempotency is not called', async () => {
  const app = express().post('/', (req, res, next) => {
    Object.assign(req, { idempotency: { forget: 'never' } });
    refuse(new Problem('unauthenticated', 'No.'), req, res, next);
  });
  expect((await ask(app)).status).toBe(401);
});

it.each(['', 'problems#', '/problems/', 1, null])('a problemTypeBase of %p is refused', problemTypeBase => {
  const message = /^configure: problemTypeBase must be an absolute URI, not /;
  expect(() => configure({ problemTypeBase: problemTypeBase as string })).toThrow(message);
});
