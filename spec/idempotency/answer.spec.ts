import type { RequestHandler } from 'express';
import Keyv from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../lib';
import { send, type WireResponse } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { keyed } from '../support/replays';

describe.each(expressVersions)('on %s', (_version, express) => {
  const served = async (
    options: IdempotencyOptions,
    handler: RequestHandler = (_req, res) => void res.send('x'),
  ): Promise<() => Promise<WireResponse>> => {
    const { url } = await serve(express().post('/', idempotency(options), handler));
    return () => send(url, { headers: keyed('k') });
  };

  it('a response over maxResponseBytes that is forgotten leaves the key free', async () => {
    const post = await served({ maxResponseBytes: 10 }, (req, res) => {
      req.idempotency.forget();
      res.send('x'.repeat(11));
    });
    expect([(await post()).status, (await post()).status]).toEqual([200, 200]);
  });

  it.each<[string, (store: Map<string, string>) => void]>([
    ['evicted', store => store.clear()],
    [
      'overwritten by something else',
      store => {
        for (const key of [...store.keys()]) store.set(key, JSON.stringify({ value: { status: 200 } }));
      },
    ],
  ])('a stored response that is %s is a 409, and its request is not run again', async (_title, lose) => {
    const store = new Map<string, string>();
    let runs = 0;
    const post = await served({ store: new Keyv({ store }) }, (_req, res) => void res.json(++runs));
    await post();
    lose(store);
    expect(JSON.parse((await post()).text)).toEqual({
      type: 'urn:bindonce:response-unavailable',
      title: 'The response is no longer available',
      status: 409,
      detail:
        'The request was executed before and is not executed again, but its response is not available. Do not retry; look up the result.',
      instance: '/',
    });
    expect(runs).toBe(1);
  });

  it.each<[string, IdempotencyOptions['replayedHeader'], string[]]>([
    ['is Idempotent-Replayed', undefined, ['Idempotent-Replayed: true']],
    ['has the name that is given', 'X-Again', ['X-Again: true']],
    ['can be left out', false, []],
  ])('the mark of a replay %s', async (_title, replayedHeader, expected) => {
    const post = await served({ replayedHeader });
    const { lines } = await post();
    expect((await post()).lines).toEqual([...lines, ...expected]);
  });

  it('the answer to HEAD has no content, also when it is a problem', async () => {
    const { url } = await serve(express().head('/', idempotency(), (_req, res) => void res.send('x')));
    const missing = await send(url, { method: 'HEAD' });
    expect([missing.status, missing.text]).toEqual([400, '']);
  });
});
