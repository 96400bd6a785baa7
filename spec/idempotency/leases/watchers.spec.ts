import { Watchers } from '../../../lib/idempotency/leases/watchers';

it('a function that watches a key twice is called until both watches have ended', () => {
  const watchers = new Watchers();
  let calls = 0;
  const onChange = (): void => {
    calls++;
  };
  const [first, second] = [watchers.add('k', onChange), watchers.add('k', onChange)];
  first();
  first();
  watchers.notify('k');
  expect([calls, watchers.has('k'), watchers.isEmpty]).toEqual([1, true, false]);
  second();
  watchers.notify('k');
  expect([calls, watchers.has('k'), watchers.isEmpty]).toEqual([1, false, true]);
});

it('the end of a watch does not end one that has begun later', () => {
  const watchers = new Watchers();
  let calls = 0;
  const end = watchers.add('k', () => undefined);
  end();
  watchers.add('k', () => {
    calls++;
  });
  end();
  watchers.notify('k');
  expect([calls, watchers.keys()]).toEqual([1, ['k']]);
});
