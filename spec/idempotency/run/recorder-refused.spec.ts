import type { ErrorRequestHandler, RequestHandler } from 'express';
import { idempotency } from '../../../lib';
import { EventLog } from '../../support/event-log';
import { expressVersions } from '../../support/express-versions';
import { send } from '../../support/listen';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
  if (res.headersSent) next(error);
  else res.status(500).send('the error page');
};

/** A middleware that throws when the head of a response is written, as one whose store of sessions has failed. */
function throwsOnce(): RequestHandler {
  let hasThrown = false;
  return (_req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res;
    res.writeHead = (...args: unknown[]) => {
      if (hasThrown) return writeHead(...args);
      hasThrown = true;
      throw new Error('The session could not be saved');
    };
    next();
  };
}

describe.each(expressVersions)('a head that cannot be sent, on %s,', (_version, express) => {
  /** The answers to two equal requests, the number of runs, and the events. */
  async function twice(handler: RequestHandler, before: RequestHandler[]) {
    let runs = 0;
    const log = new EventLog();
    const counted: RequestHandler = (req, res, next) => {
      runs++;
      return handler(req, res, next);
    };
    const guard = idempotency({ onEvent: log.onEvent });
    const { url } = await serve(
      express()
        .all('/', ...before, guard, counted)
        .use(onError),
    );
    const ask = async (): Promise<string> => {
      const { status, text } = await send(url, { headers: keyed('k') });
      return `${status} ${text}`;
    };
    return { answers: [await ask(), await ask()], runs, kinds: log.kinds };
  }

  it.each<[string, RequestHandler]>([
    [
      'write()',
      (_req, res) => {
        res.status(201).write('{"order":');
        res.end('1}');
      },
    ],
    [
      'writeHead() and write()',
      (_req, res) => {
        res.writeHead(201, { 'X-Order': '1' }).write('{"order":');
        res.end('1}');
      },
    ],
    [
      'flushHeaders()',
      (_req, res) => {
        res.status(201).flushHeaders();
        res.end('{"order":1}');
      },
    ],
  ])('is an error of %s in the handler, and the error page is the response that is stored', async (_call, handler) => {
    expect(await twice(handler, [throwsOnce()])).toEqual({
      answers: ['500 the error page', '500 the error page'],
      runs: 1,
      kinds: ['executed', 'replayed'],
    });
  });
});
