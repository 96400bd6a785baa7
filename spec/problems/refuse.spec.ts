import express, { type Request, type RequestHandler, type Response } from 'express';
import { Keyv } from 'keyv';
import { configure, dto, int, Problem, problemDetails, queryValue, routeParam, type OnProblem } from '../../lib';
import { refuse } from '../../lib/problems/refuse';
import { expressVersions } from '../support/express-versions';
import { serving } from '../support/one-endpoint';
import { send } from '../support/listen';

class Item extends dto({ n: int }) {}
class Charge extends dto({ amount: routeParam(int) }) {}
const passOn: OnProblem = (problem, _req, _res, next) => {
  next(problem);
};
const answer: OnProblem = (problem, _req, res) => {
  res.status(problem.status).json({ mine: problem.code });
};

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
      const headers = { 'Idempotency-Key': 'k' };
      const answers = await serving(app, async ({ url }) => {
        const responses = [];
        for (let time = 0; time < 3; time++) responses.push(await send(`${url}/5`, { headers }));
        return responses.map(({ status, headers: { 'idempotent-replayed': replayed } }) => [status, replayed]);
      });
      return { charges, answers };
    }

    const kept = [
      [400, undefined],
      [400, 'true'],
      [400, 'true'],
    ];

    it('a Problem of its own that a handler throws is its response: three duplicates, one run', async () => {
      const own = (): Problem => new Problem('validation-failed', 'The card is blocked.');
      expect(
        await charged(() => {
          throw own();
        }),
      ).toEqual({ charges: 1, answers: kept });
      expect(
        await charged((_req, _res, next) => {
          next(own());
        }),
      ).toEqual({ charges: 1, answers: kept });
    });

    it('so is a value that the handler asks for and that is missing', async () => {
      expect(
        await charged(req => {
          queryValue(req, 'receipt', int);
        }),
      ).toEqual({ charges: 1, answers: kept });
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
      const [refused, again, corrected] = await serving(app, async ({ url }) => {
        const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' };
        const ask = (body: string) => send(url, { headers, body });
        return [await ask('{}'), await ask('{}'), await ask('{"n":1}')];
      });
      expect([refused?.status, again?.status, again?.headers['idempotent-replayed'], corrected?.text]).toEqual([
        400,
        400,
        undefined,
        '1',
      ]);
    });
  });
});

it('what another library has left as req.idempotency is not called', async () => {
  const app = express().post('/', (req, res, next) => {
    Object.assign(req, { idempotency: { forget: 'never' } });
    refuse(new Problem('unauthenticated', 'No.'), req, res, next);
  });
  expect((await serving(app, ({ url }) => send(url))).status).toBe(401);
});
