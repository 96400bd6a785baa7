import type { Response } from 'express';
import { beginDraft } from '../../../lib/idempotency/run/commit-with';
import { Recorder } from '../../../lib/idempotency/run/recorder';
import { expressVersions } from '../../support/express-versions';
import { send, type WireResponse } from '../../support/listen';
import { visible } from '../../support/replays';
import { serve } from '../../support/serve';

const limits = { maxResponseBytes: 1_000, leaseDuration: 30_000, cacheDuration: 600_000 };

describe.each(expressVersions)('a draft of a response, on %s,', (_version, express) => {
  /** Answers by `work` in a recorded response; what it finds out is returned. */
  const answered = async <T>(work: (res: Response, draft: () => ReturnType<typeof beginDraft>) => T | Promise<T>) => {
    let found: T | undefined;
    const app = express()
      .disable('x-powered-by')
      .use((_req, res, next) => {
        res.set('X-Front', '1').cookie('front', '1');
        next();
      })
      .post('/', async (req, res) => {
        const recorder = new Recorder(req, res, limits);
        void recorder.ending.then(() => {
          recorder.finish();
        });
        found = await work(res, () => beginDraft(res, limits.maxResponseBytes, recorder.recording.before));
      });
    const answer = await send((await serve(app)).url);
    return { answer, found };
  };
  const respond = (res: Response): unknown =>
    res.status(201).cookie('own', '2').set('X-Own', 'yes').json({ order: 'grün' });

  it.each<[string, (res: Response) => unknown]>([
    ['json', respond],
    ['writeHead and end', res => res.writeHead(202, 'Fine', { 'X-Own': 'yes' }).end('text')],
    ['204', res => res.status(204).end()],
  ])('by %s gives node nothing until it is sent, as without it', async (_title, act) => {
    const { answer: without } = await answered(res => {
      act(res);
    });
    const { answer, found } = await answered(async (res, begin) => {
      const draft = begin();
      act(res);
      const response = await draft.ended;
      const { headersSent } = res;
      if (typeof response === 'object') draft.send(response);
      return { headersSent, response };
    });
    expect(found?.headersSent).toBe(false);
    expect(found?.response).toMatchObject({ status: without.status, body: Buffer.from(without.text) });
    expect(visible(answer)).toEqual(visible(without));
  });

  it('that is thrown away leaves the response as it was', async () => {
    const answerAgain = (res: Response): unknown => res.send('second');
    const { answer: without } = await answered(res => {
      answerAgain(res);
    });
    const { answer } = await answered(async (res, begin) => {
      for (let tries = 0; tries < 2; tries++) {
        const draft = begin();
        respond(res);
        res.removeHeader('X-Front');
        await draft.ended;
        draft.discard();
      }
      answerAgain(res);
    });
    expect(visible(answer)).toEqual(visible(without));
  });

  it.each<[string, (res: Response) => unknown]>([
    ['was written in pieces', res => res.write('a piece')],
    ['was written in pieces', res => res.flushHeaders()],
    ['is longer than maxResponseBytes', res => res.send('x'.repeat(1_001))],
    ['has a head that cannot be stored', res => res.set('Transfer-Encoding', 'gzip').end('x')],
  ])('is no response if it %s', async (reason, act) => {
    const { answer, found }: { answer: WireResponse; found: unknown } = await answered(async (res, begin) => {
      const draft = begin();
      act(res);
      const ended = await draft.ended;
      draft.discard();
      res.send('another');
      return ended;
    });
    expect([found, answer.text, answer.headers['transfer-encoding']]).toEqual([
      expect.stringContaining(reason),
      'another',
      undefined,
    ]);
  });
});
