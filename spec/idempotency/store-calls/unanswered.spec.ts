import { callStore } from '../../../lib/idempotency/store-calls/store-call';
import { Unanswered } from '../../../lib/idempotency/store-calls/unanswered';
import { signal, type Signal } from '../../support/signal';

const TIMEOUT = 20;

/** A store whose answers a spec gives, one by one. */
function store() {
  const unanswered = new Unanswered();
  const answers: Signal<string>[] = [];
  const call = (): Promise<string> => {
    const answer = signal<string>();
    answers.push(answer);
    return answer.happened;
  };
  const ask = (ms = TIMEOUT): Promise<string> => Promise.resolve(callStore('get()', call, ms, { unanswered }));
  return { ask, answers };
}

/** Asks a silent store so many times, and waits until all calls are given up. */
async function askInVain(ask: () => Promise<string>, times: number): Promise<void> {
  const calls = await Promise.allSettled(Array.from({ length: times }, () => ask()));
  expect(calls.every(({ status }) => status === 'rejected')).toBe(true);
}

it('a store that has left a hundred calls unanswered is called once more, and then refused without a call', async () => {
  const { ask, answers } = store();
  await askInVain(ask, 99);
  await askInVain(ask, 1);
  expect(answers).toHaveLength(100);
  await askInVain(ask, 50);
  expect(answers).toHaveLength(101);
  await expect(ask()).rejects.toThrow(
    new Error(
      'get() was not called, because 101 earlier calls of the store are unanswered. Check the store and its connection.',
    ),
  );
});

it('is called again after a second, and as ever once it answers in time', async () => {
  const { ask, answers } = store();
  await askInVain(ask, 101);
  expect(answers).toHaveLength(101);
  let call: Promise<string>;
  do {
    call = ask(20_000);
    call.catch(() => undefined);
    await new Promise(setImmediate);
  } while (answers.length === 101);
  answers[101]?.happens('here again');
  expect(await call).toBe('here again');
  const others = [ask(20_000), ask(20_000)];
  expect(answers).toHaveLength(104);
  for (const answer of answers) answer.happens('all is well');
  expect(await Promise.all(others)).toEqual(['all is well', 'all is well']);
});

it('is called as ever once it has answered late', async () => {
  const { ask, answers } = store();
  await askInVain(ask, 101);
  for (const answer of answers.splice(0, 60)) answer.happens('late');
  await new Promise(setImmediate);
  await askInVain(ask, 59);
  expect(answers).toHaveLength(41 + 59);
});

it('is called as ever once the calls have failed late', async () => {
  const fail: ((error: Error) => void)[] = [];
  const unanswered = new Unanswered();
  const call = (): Promise<string> =>
    new Promise((_answer, reject) => {
      fail.push(reject);
    });
  const ask = (): Promise<string> => Promise.resolve(callStore('get()', call, TIMEOUT, { unanswered }));
  await askInVain(ask, 100);
  for (const one of fail.splice(0)) one(new Error('ECONNRESET'));
  await new Promise(setImmediate);
  await askInVain(ask, 100);
  expect(fail).toHaveLength(100);
});

it('a call that fails does not count: no client keeps it', async () => {
  const unanswered = new Unanswered();
  let calls = 0;
  const failing = (): Promise<never> => {
    calls++;
    return Promise.reject(new Error('ECONNREFUSED'));
  };
  const ask = (): Promise<string> => Promise.resolve(callStore<string>('get()', failing, TIMEOUT, { unanswered }));
  await askInVain(ask, 150);
  const before = calls;
  await askInVain(ask, 150);
  expect(calls - before).toBeGreaterThanOrEqual(150);
});
