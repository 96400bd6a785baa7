import { pairsInOrder } from '../../../lib/idempotency/identity/canonical';

describe('two queries', () => {
  it.each([
    ['a=1&b=2', 'b=2&a=1'],
    ['a=1&b=2&a=3', 'a=1&a=3&b=2'],
    ['a[0]=1&b=2&a[1]=3', 'b=2&a[0]=1&a[1]=3'],
    ['a%5B0%5D=1&b=2', 'b=2&a%5B0%5D=1'],
    ['a.x=1&b=2&a.y=3', 'b=2&a.x=1&a.y=3'],
    ['', '&&'],
  ])('%p and %p are one', (one, other) => {
    expect(pairsInOrder(one)).toEqual(pairsInOrder(other));
  });

  it.each([
    ['a=1', 'A=1'],
    ['a=1&A=2', 'A=2&a=1'],
    ['a=1&a=2', 'a=2&a=1'],
    ['a=1&a[]=2', 'a[]=2&a=1'],
    ['a[x]=1&a[y]=2', 'a[y]=2&a[x]=1'],
    ['a=1&%61=2', '%61=2&a=1'],
    ['[a]=1&a=2', 'a=2&[a]=1'],
    ['?a=1&a=2', 'a=2&?a=1'],
    ['a=+', 'a=%20'],
    ['a=%FF', 'a=%FE'],
    ['=1', '1='],
  ])('%p and %p are two', (one, other) => {
    expect(pairsInOrder(one)).not.toEqual(pairsInOrder(other));
  });
});
