import { setTimeout as pause } from 'node:timers/promises';
import { afterRunning, withinTime } from '../../../lib/idempotency/store-calls/running-time';
import { signal } from '../../support/signal';
import { standStill } from '../../support/stand-still';

/** How long it takes until the call, in milliseconds, when something happens right after the start. */
async function timed(ms: number, happens: () => void = () => undefined): Promise<number> {
  const over = signal();
  const begun = performance.now();
  afterRunning(ms, () => {
    over.happens();
  });
  happens();
  await over.happened;
  return performance.now() - begun;
}

describe('a time in which the process runs', () => {
  it('is over after its milliseconds', async () => {
    expect(await timed(60)).toBeGreaterThan(58);
  });

  it('is extended by the time for which the process was stopped after its end', async () => {
    expect(
      await timed(60, () => {
        standStill(100);
      }),
    ).toBeGreaterThan(138);
  });

  it('lasts twice as long at most', async () => {
    let ms: number;
    // A machine that is busy elsewhere can delay a try, but not every one.
    do {
      ms = await timed(60, () => {
        standStill(1_000);
      });
      expect(ms).toBeGreaterThan(1_058);
    } while (ms > 1_800);
  });

  it('is not extended by a system that rounds timers up to its ticks, as an idle Windows does', () => {
    const tick = 15.6;
    let now = 1;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation((fire, delay = 0) => {
      now = Math.ceil((now + delay) / tick) * tick;
      fire();
      return undefined as never;
    });
    try {
      afterRunning(2_000, () => undefined)();
      expect(timers).toHaveBeenCalledTimes(1);
    } finally {
      clock.mockRestore();
      timers.mockRestore();
    }
  });

  it('lets events that have arrived meanwhile run before it is over', async () => {
    const order: string[] = [];
    const over = signal();
    afterRunning(40, () => {
      order.push('over');
      over.happens();
    });
    const arrived = pause(41)
      .then(() => new Promise(setImmediate))
      .then(() => {
        order.push('arrived');
      });
    standStill(100);
    await Promise.all([over.happened, arrived]);
    expect(order).toEqual(['arrived', 'over']);
  });

  it('can be taken back, at its last turn too', async () => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    afterRunning(20, end)();
    const cancel = afterRunning(20, end);
    // The microtask runs when the deadline's timer has begun the last turn, and before that turn.
    const { setImmediate: begin } = globalThis;
    const lastTurn = jest
      .spyOn(globalThis, 'setImmediate')
      .mockImplementationOnce((...turn: Parameters<typeof begin>) => {
        queueMicrotask(cancel);
        return begin(...turn);
      });
    while (lastTurn.mock.calls.length === 0) await pause(5);
    lastTurn.mockRestore();
    await pause(20);
    expect(isOver).toBe(false);
  });
});

describe('a call within its time', () => {
  it('is answered by a promise whose `then` is not that of the language', async () => {
    const own = Promise.resolve('answer');
    const { then } = own;
    // Libraries that trace promises replace it; not every one returns a promise.
    own.then = function traced(this: Promise<string>, ...given: Parameters<typeof then>) {
      void then.apply(this, given);
    } as typeof then;
    expect(await withinTime(() => own, 1_000)).toBe('answer');
  });
});
