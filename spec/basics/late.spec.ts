import { late } from '../../lib/basics/late';

it('makes the function once, when it is first asked for', () => {
  const make = jest.fn(() => (value: number) => value + 1);
  const added = late(make);
  expect(make).not.toHaveBeenCalled();
  expect([added()(1), added()(2)]).toEqual([2, 3]);
  expect(added()).toBe(added());
  expect(make).toHaveBeenCalledTimes(1);
});

it('gives a function that asks for itself while it is made one that calls it', () => {
  const factorial = late((): ((value: number) => number) => {
    const own = factorial();
    return value => (value === 0 ? 1 : value * own(value - 1));
  });
  expect(factorial()(5)).toBe(120);
});

it('tries again when the making has failed', () => {
  const make = jest.fn(() => (value: number) => value);
  make.mockImplementationOnce(() => {
    throw new Error('not yet');
  });
  const same = late(make);
  expect(() => same()(1)).toThrow('not yet');
  expect(same()(1)).toBe(1);
});
