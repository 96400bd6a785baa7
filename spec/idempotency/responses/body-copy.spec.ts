import { BodyCopy } from '../../../lib/idempotency/responses/body-copy';
import { collectGarbage } from '../../support/garbage';

const inUse = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe('a body that is written in small chunks', () => {
  it('takes hardly more memory than its bytes', () => {
    const COUNT = 500_000;
    const body = new BodyCopy(10_000_000);
    const before = inUse();
    for (let index = 0; index < COUNT; index++) body.add(Buffer.from('text'));
    expect(inUse() - before).toBeLessThan(3 * body.bytes);
    expect(body.content?.length).toBe(4 * COUNT);
  });

  it('is the bytes in their order', () => {
    const body = new BodyCopy(100_000);
    const texts = Array.from({ length: 4_321 }, (_, index) => (index % 7 === 0 ? '' : `${index},`));
    for (const text of texts) body.add(Buffer.from(text));
    expect(body.content?.toString()).toBe(texts.join(''));
  });
});

it('a body of more bytes than may be kept has no content', () => {
  const body = new BodyCopy(5);
  for (const text of ['abc', 'def', 'g']) body.add(Buffer.from(text));
  expect([body.bytes, body.content]).toEqual([7, undefined]);
});
