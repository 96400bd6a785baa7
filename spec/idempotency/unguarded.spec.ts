import { idempotency, type IdempotencyOptions } from '../../lib';
import { expressVersions } from '../support/express-versions';
import { guarded, type Keyed } from '../support/guarded';

const keyless = { key: '' };
const get = (request: Keyed): Keyed => ({ ...request, method: 'GET' });
const two: Keyed = { headers: { 'Idempotency-Key': ['a', 'b'] } };

/** `1` is an answer of the first run, `1 k` of the first run, which saw the key. */
it.each<[what: string, IdempotencyOptions, Keyed[], answers: string, inner?: IdempotencyOptions]>([
  [
    'without a key, or with a blank one',
    { whenKeyMissing: 'run' },
    [keyless, { key: ' ' }, { key: '""' }, {}, {}],
    '1, 2, 3, 4 k, 4 k',
  ],
  [
    'with a malformed key, or with two, is refused:',
    { whenKeyMissing: 'run', keyPattern: /^\d+$/ },
    [{}, two],
    '400, 400',
  ],
  [
    'whose method is not guarded',
    { methods: ['post', 'PATCH'] },
    [get(keyless), get({}), get({}), keyless, {}, {}],
    '1, 2, 3, 400, 4 k, 4 k',
  ],
  ['whose method its route guards', { methods: ['PATCH'] }, [{}, {}, keyless], '1 k, 1 k, 400', { methods: ['POST'] }],
])('a request %s runs each time, or as the options say', async (_what, ...[options, requests, expected, inner]) => {
  for (const [, version] of expressVersions) {
    const { post } = await guarded(
      options,
      ({ idempotency: { key, signal } }, res, _next, run) =>
        res.send(`${run} ${key}`.trim() + (signal.aborted ? '!' : '')),
      { version, behind: inner ? [idempotency(inner)] : [] },
    );
    const answers = [];
    for (const request of requests) {
      const { status, text } = await post(request);
      answers.push(status === 200 ? text : status);
    }
    expect(answers.join(', ')).toBe(expected);
  }
});
