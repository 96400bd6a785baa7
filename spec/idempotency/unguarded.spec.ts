import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireRequest } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { keyed } from '../support/replays';

describe.each(expressVersions)('a request that the options leave alone, %s,', (_version, express) => {
  /** What the requests are answered: status, number of the run, and the key that the handler sees. */
  async function answers(
    options: IdempotencyOptions,
    requests: readonly WireRequest[],
    inner?: IdempotencyOptions,
  ): Promise<string[]> {
    let runs = 0;
    const app = express()
      .use(idempotency(options))
      .all(
        '/',
        ...(inner ? [idempotency(inner)] : []),
        (req, res) => void res.send(`${++runs} ${req.idempotency.key} ${req.idempotency.signal.aborted}`),
      );
    const { url } = await serve(app);
    const texts: string[] = [];
    for (const request of requests) {
      const { status, text } = await send(url, request);
      texts.push(status === 200 ? text : String(status));
    }
    return texts;
  }

  const post = (headers: Record<string, string> = {}): WireRequest => ({ method: 'POST', headers });

  it('because it has no key, or a blank one, runs each time', async () => {
    const blank = [post(), post({ 'Idempotency-Key': ' ' }), post({ 'Idempotency-Key': '""' })];
    expect(await answers({ whenKeyMissing: 'run' }, [...blank, post(keyed('k')), post(keyed('k'))])).toEqual([
      '1  false',
      '2  false',
      '3  false',
      '4 k false',
      '4 k false',
    ]);
  });

  it('is not one with a malformed key, or with two', async () => {
    const two = { method: 'POST', headers: { 'Idempotency-Key': ['a', 'b'] } };
    expect(await answers({ whenKeyMissing: 'run', keyPattern: /^\d+$/ }, [post(keyed('x')), two])).toEqual([
      '400',
      '400',
    ]);
  });

  it('because of its method, runs each time, with a key and without', async () => {
    const get = (headers: Record<string, string> = {}): WireRequest => ({ method: 'GET', headers });
    expect(
      await answers({ methods: ['post', 'PATCH'] }, [
        get(),
        get(keyed('k')),
        get(keyed('k')),
        post(),
        post(keyed('k')),
        post(keyed('k')),
      ]),
    ).toEqual(['1  false', '2  false', '3  false', '400', '4 k false', '4 k false']);
  });

  it('for the application is guarded where its route says so', async () => {
    expect(
      await answers({ methods: ['PATCH'] }, [post(keyed('k')), post(keyed('k')), post()], { methods: ['POST'] }),
    ).toEqual(['1 k false', '1 k false', '400']);
  });
});
