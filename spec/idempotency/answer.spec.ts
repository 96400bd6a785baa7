import Keyv from 'keyv';
import type { IdempotencyOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { guarded, seen } from '../support/guarded';

describe.each(expressVersions)('on %s', (_version, version) => {
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
    const { post, runs } = await guarded({ store: new Keyv({ store }) }, undefined, { version });
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
    expect(runs()).toBe(1);
  });

  it.each<[string, IdempotencyOptions['replayedHeader'], string[]]>([
    ['is Idempotent-Replayed', undefined, ['Idempotent-Replayed: true']],
    ['has the name that is given', 'X-Again', ['X-Again: true']],
    ['can be left out', false, []],
  ])('the mark of a replay %s', async (_title, replayedHeader, expected) => {
    const { post } = await guarded({ replayedHeader }, undefined, { version });
    const { lines } = await post();
    expect((await post()).lines).toEqual([...lines, ...expected]);
  });

  it('the answer to HEAD has no content, also when it is a problem', async () => {
    const { post } = await guarded({}, undefined, { version });
    expect(seen(await post({ method: 'HEAD', key: '' }))).toBe('400 ');
  });
});
