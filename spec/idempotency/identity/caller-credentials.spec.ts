import { warned } from '../../../lib/warnings/warn-once';
import { countingService, runsOf, type Asked } from '../../support/counting-service';

let emitWarning: jest.SpyInstance;
beforeEach(() => {
  warned.clear();
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => emitWarning.mockRestore());
const warnings = (): unknown[] => emitWarning.mock.calls.map(([, options]) => (options as { code?: string }).code);

const having = (...headers: Record<string, string>[]): Asked[] => headers.map(one => ({ headers: one }));

describe('cookies that nothing explains', () => {
  it('cause a warning, once', async () => {
    const { answersTo } = await countingService();
    expect(await answersTo(having({}, { Authorization: 'Bearer a', Cookie: 'a=1' }))).toEqual(['1', '2']);
    expect(warnings()).toEqual([]);
    expect(await answersTo(having({ Cookie: 'a=1' }, { Cookie: 'b=1' }))).toEqual(['1', '1']);
    expect(warnings()).toEqual(['BINDONCE_COOKIE_ONLY']);
  });

  it('are named by the header of a gateway, if there is one, which tells no callers apart either', async () => {
    const [ann, ben] = ['ann', 'ben'].map(name => ({ 'X-Forwarded-User': name, Cookie: 'a=1' }));
    const { answersTo } = await countingService();
    const answers = await answersTo(having({ ...ann, Authorization: 'Bearer a' }, ann ?? {}, ben ?? {}));
    expect([answers, warnings()]).toEqual([['1', '2', '2'], ['BINDONCE_HEADER_ONLY']]);
    expect(String(emitWarning.mock.calls[0]?.[0])).toContain("`scope: req => req.get('x-forwarded-user')`");
  });
});

it('a response to a request without a caller is not shared where the request has another Authorization or X-Api-Key', async () => {
  const gateway = { Authorization: 'Basic gateway' };
  const requests = having(
    ...[
      { Authorization: 'Bearer a' },
      { Authorization: 'Bearer b' },
      { Authorization: '' },
      {},
      { Authorization: 'a' },
    ],
    ...[{ 'X-Api-Key': 'a' }, { 'X-Api-Key': 'b' }, { ...gateway, 'X-Api-Key': 'a' }, { ...gateway, 'X-Api-Key': 'b' }],
    ...([{ Authorization: 'id:1' }, gateway] as Record<string, string>[]),
  );
  expect(await runsOf(requests)).toBe('1 2 3 4 5 6 7 8 9 10 11');
});

it.each([
  'AWS4-HMAC-SHA256 Credential=a/20261122/eu/s3/aws4_request, Signature=1',
  'Digest username="a", nc=00000001',
  'OAuth oauth_nonce="1"',
  'Hawk id="a", nonce="1"',
  'HMAC a:1',
  'HMAC-SHA256 Signature=1',
  'Signature keyId="a"',
  'Negotiate YII',
  'NTLM TlR',
  'digest username="a"',
])('%s is an error that says to pass scope', async Authorization => {
  const { answersTo, runs } = await countingService();
  const told = /^idempotency: the Authorization scheme "[\w-]+" signs each request, .* or pass the `scope` option\.$/;
  expect([await answersTo(having({ Authorization })), runs()]).toEqual([[expect.stringMatching(told)], 0]);
});
