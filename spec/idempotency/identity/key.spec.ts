import { processorTime } from '../../support/processor-time';
import { countingService, type Asked } from '../../support/counting-service';

const keyed = (key: string): Asked => ({ headers: { 'Idempotency-Key': key } });

describe('the idempotency key', () => {
  it('of thousands of parameters, and with 200,000 blanks in it, is read in a moment', async () => {
    const keys = [`"abc"${';a="\\"'.repeat(2_000)}`, `\t a${' '.repeat(200_000)}b \t`];
    // Longer than node takes from a client.
    const { answersTo } = await countingService(
      { addHeaderToResponse: false },
      { before: [(req, _res, next) => next(void (req.headers['idempotency-key'] = keys[Number(req.path.slice(1))]))] },
    );
    const ms = await processorTime(async () => {
      expect(await answersTo([{ path: '/0' }, { path: '/1' }, { path: '/1' }])).toEqual(['1', '2', '2']);
    });
    expect(ms).toBeLessThan(5_000);
  }, 60_000);

  it('comes in the header of the name that is given, in any case', async () => {
    const { answersTo } = await countingService({ headerName: 'X-Once-Only' });
    const ours = ['X-Once-Only', 'x-once-ONLY'].map(name => ({ headers: { [name]: 'k' } }));
    expect(await answersTo([keyed('k'), ...ours])).toEqual(['400', '1', '1']);
  });

  it.each<[string, string | undefined, string[]]>([
    ['put on or changed', 'theirs', ['1', '1']],
    ['taken away', undefined, ['400', '400']],
  ])('is what an earlier middleware has %s in req.headers', async (_how, header, answers) => {
    const { answersTo } = await countingService(
      {},
      { before: [(req, _res, next) => next(void (req.headers['idempotency-key'] = header))] },
    );
    expect(await answersTo([keyed('sent'), keyed('other')])).toEqual(answers);
  });
});
