import type { Acquisition } from '../../idempotency/leases/lease-store';
import { LONG, type Fact, type KeyView } from '../trial';

/** A function to watch with, and a promise of its first call. */
interface Watcher {
  readonly change: Promise<void>;
  readonly onChange: () => void;
}

/** @param isSeen asked at each call; a call counts only if it answers true. */
function watcher(isSeen: () => Promise<boolean> = () => Promise.resolve(true)): Watcher {
  let onChange = (): void => undefined;
  const change = new Promise<void>((resolve, reject) => {
    onChange = () => {
      isSeen().then(seen => {
        if (seen) resolve();
      }, reject);
    };
  });
  return { change, onChange };
}

/** How a run ends, and what another token is answered then. */
const ENDS: readonly (readonly [title: string, end: (view: KeyView) => Promise<boolean>, next: Acquisition['kind']])[] =
  [
    ['completed', view => view.complete('a', LONG), 'done'],
    ['released', view => view.release('a'), 'acquired'],
  ];

/** Another watcher stops, before or after the one that has to hear of a change begins. */
const OTHERS: readonly (readonly [title: string, hasSameFunction: boolean, isBefore: boolean])[] = [
  ['continues for other watchers when one stops', false, false],
  ['continues for other watchers with the same function when one stops', true, false],
  ['can begin again after the last watcher stopped', false, true],
];

export const watchFacts: readonly Fact[] = [
  ...ENDS.flatMap(([title, end, next]): Fact[] => [
    [
      `notifies all watchers in all processes when the run was ${title}`,
      async trial => {
        const { one, other } = trial;
        await one.acquire('a', LONG);
        const watchers = [watcher(), watcher(), watcher()];
        const stops: (() => void)[] = [];
        for (const [index, { onChange }] of watchers.entries()) stops.push(await (index ? other : one).watch(onChange));
        await end(one);
        for (const { change } of watchers) await trial.notified(change);
        for (const stop of stops) stop();
      },
    ],
    [
      `notifies when other tokens can see that the run was ${title}`,
      async trial => {
        const { one, other } = trial;
        await one.acquire('a', LONG);
        // A call that comes too early is allowed if another one follows.
        const { change, onChange } = watcher(async () => (await other.acquire('b', LONG)).kind === next);
        const stop = await other.watch(onChange);
        await end(one);
        await trial.notified(change);
        stop();
      },
    ],
  ]),
  ...OTHERS.map(([title, hasSameFunction, isBefore]): Fact => [
    title,
    async trial => {
      const { one, other } = trial;
      await one.acquire('a', LONG);
      const { change, onChange } = watcher();
      const stopOther = await one.watch(hasSameFunction ? onChange : () => undefined);
      if (isBefore) stopOther();
      const stop = await one.watch(onChange);
      if (!isBefore) stopOther();
      await other.complete('a', LONG);
      await trial.notified(change);
      stop();
    },
  ]),
  [
    'makes no call after the watch was stopped',
    async trial => {
      const { one, other } = trial;
      let calls = 0;
      const stopped = await one.watch(() => {
        calls++;
      });
      stopped();
      // A call before that comes too often, which is allowed.
      calls = 0;
      const { change, onChange } = watcher();
      const stop = await one.watch(onChange);
      await one.acquire('a', LONG);
      await other.complete('a', LONG);
      await trial.notified(change);
      stop();
      trial.holds(calls === 0, 'onChange was called after its watch was stopped', 'no call');
    },
  ],
];
