import express, { type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { configure, dto, int, Problem, problemDetails, queryValue, routeParam, type OnProblem } from '../../lib';
import { refuse } from '../../lib/problems/answer';
import { ask } from '../support/ask';
import { expressVersions } from '../support/express-versions';

class Item extends dto({ n: int }) {}
class Charge extends dto({ amount: routeParam(int) }) {}
const passOn: OnProblem = (problem, _req, _res, next) => next(problem);
const answer: OnProblem = (problem, _req, res) => void res.status(problem.status).json({ mine: problem.code });

describe.each(expressVersions)('%s', (_name, framework) => {
  describe.each<[string, OnProblem | undefined]>([
    ['without onProblem', undefined],
    ['with an onProblem that passes problems on', passOn],
    ['with an onProblem that answers', answer],
  ])('%s', (_what, onProblem) => {
    /** What three duplicates get from a handler that charges and then fails, and how often it has charged. */
    async function charged(fail: RequestHandler): Promise<{ charges: number; answers: unknown[] }> {
      let charges = 0;
      const { idempotency, bindRequest } = configure({
        idempotency: { store: new Keyv() },
        ...(onProblem && { onProblem }),
      });
      const app = framework().set('env', 'test');
      app.post('/:amount', idempotency(), bindRequest(Charge), (req: Request, res: Response, next) => {
        charges++;
        return fail(req, res, next);
      });
      app.use(problemDetails());
      const answers: unknown[] = [];
      for (let time = 0; time < 3; time++) {
        const { status, headers } = await ask(app, { path: '/5', key: 'k' });
        answers.push([status, headers['idempotent-replayed']]);
      }
      return { charges, answers };
    }

    const kept = [
      [400, undefined],
      [400, 'true'],
      [400, 'true'],
    ];

    const own = (): Problem => new Problem('validation-failed', 'The card is blocked.');
    it.each<[what: string, fail: RequestHandler]>([
      [
        'a Problem of its own that a handler throws',
        () => {
          throw own();
        },
      ],
      ['one that it passes on', (_req, _res, next) => next(own())],
      ['a value that the handler asks for and that is missing', req => void queryValue(req, 'receipt', int)],
    ])('%s is its response: three duplicates, one run', async (_what, fail) => {
      expect(await charged(fail)).toEqual({ charges: 1, answers: kept });
    });

    it('a request that bindRequest refuses leaves its key free: the corrected one runs', async () => {
      const { idempotency, bindRequest } = configure({
        idempotency: { store: new Keyv() },
        ...(onProblem && { onProblem }),
      });
      const app = framework().post('/', idempotency(), bindRequest(Item), (req, res) => {
        res.json(req.dto.n);
      });
      app.use(problemDetails());
      expect((await ask(app, { key: 'k', json: {} })).status).toBe(400);
      const again = await ask(app, { key: 'k', json: {} });
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([400, undefined]);
      expect((await ask(app, { key: 'k', json: { n: 1 } })).text).toBe('1');
    });
  });
});

it('a value of another library in req.idempotency is not called', async () => {
  const app = express().post('/', (req, res, next) => {
    Object.assign(req, { idempotency: { forget: 'never' } });
    refuse(new Problem('unauthenticated', 'No.'), req, res, next);
  });
  expect((await ask(app)).status).toBe(401);
});
