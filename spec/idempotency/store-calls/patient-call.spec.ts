import { PatientCall } from '../../../lib/idempotency/store-calls/patient-call';
import { signal, type Signal } from '../../support/signal';

/** A call whose answers a spec gives. */
function patient(ms: number) {
  const answers: Signal<number>[] = [];
  const call = new PatientCall<number>(ms);
  const make = () =>
    call.make(() => {
      const answer = signal<number>();
      answers.push(answer);
      return answer.happened;
    });
  return { make, answers };
}

it('a call is not repeated while it is unanswered: its answer is that of the first', async () => {
  const { make, answers } = patient(60_000);
  const calls = [make(), make(), make()];
  expect(answers).toHaveLength(1);
  answers[0]?.happens(7);
  expect(await Promise.all(calls)).toEqual([7, 7, 7]);
});

it('it is made anew once it was answered, also by an error', async () => {
  const call = new PatientCall<number>(60_000);
  await expect(call.make(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(await call.make(() => Promise.resolve(1))).toBe(1);
  expect(await call.make(() => 2)).toBe(2);
});

it('a call whose answer is lost is repeated, at intervals that double', () => {
  const { make, answers } = patient(8);
  const calls: { before: number; after: number }[] = [];
  while (answers.length < 5) {
    const before = performance.now();
    void make();
    if (answers.length > calls.length) calls.push({ before, after: performance.now() });
  }
  // The call reads the clock in between: a pause of this process makes these waits longer, never shorter.
  const waits = calls.slice(1).map(({ after }, index) => after - (calls[index]?.before ?? 0));
  expect(waits.map((wait, index) => wait >= 8 * 2 ** index)).toEqual([true, true, true, true]);
});
