import { canonicalPairs, splitPairs } from '../../../lib/idempotency/identity/canonical-pairs';

const canonical = (text: string): string[] => canonicalPairs(splitPairs(text));

describe('two queries', () => {
  it.each([
    ['a=1&b=2', 'b=2&a=1'],
    ['a=1&b=2&a=3', 'a=1&a=3&b=2'],
    ['a[0]=1&b=2&a[1]=3', 'b=2&a[0]=1&a[1]=3'],
    ['a.x=1&b=2&a.y=3', 'b=2&a.x=1&a.y=3'],
    ['a=%41', 'a=A'],
    ['%61=1', 'a=1'],
    ['a=+', 'a=%20'],
    ['a=%c3%a9', 'a=%C3%A9'],
    ['a', 'a='],
    ['a=\xc3\xa9', 'a=%C3%A9'],
    ['a=\xc3%A9', 'a=%c3\xa9'],
    ['a=\t', 'a=%09'],
    ['', '&&'],
  ])('%p and %p are one', (one, other) => {
    expect(canonical(one)).toEqual(canonical(other));
  });

  it.each([
    ['a=1', 'A=1'],
    ['a=1&A=2', 'A=2&a=1'],
    ['a=1&a[]=2', 'a[]=2&a=1'],
    ['a[0]=1&a[1]=2', 'a[1]=2&a[0]=1'],
    ['a=1&a=2', 'a=2&a=1'],
    ['a=b=c', 'a=b%26=c'],
    ['a=b%26c=d', 'a=b&c=d'],
    ['a=%2B', 'a=+'],
    ['a=%25', 'a=%'],
    ['a=%FF', 'a=%FE'],
    ['a=%ZZ', 'a=%25ZZ'],
    ['a=%C3', 'a=%C4'],
    ['a=\xff', 'a=%FF'],
    ['a=\xff', 'a=\xfe'],
    ['a=%', 'a=%25'],
    ['a=%4', 'a=%254'],
    ['a=%C0%80', 'a=%00'],
    ['a=%ED%A0%80', 'a=%ED%A0%81'],
    ['a=%EF%BB%BFx', 'a=x'],
    ['a=%EF%BF%BD', 'a=%FF'],
    ['a=\u20ac', 'a=\xac'],
    ['a==1', 'a=%3D%3D1'],
    ['=1', '1='],
    ['%00=1', '=1'],
  ])('%p and %p are two', (one, other) => {
    expect(canonical(one)).not.toEqual(canonical(other));
  });
});
