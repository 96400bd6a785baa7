import type { Acquisition } from '../../idempotency/leases/lease-store';
import { LONG, type Fact, type KeyView, type Trial } from '../trial';

/** A function to watch with, and a promise of its first call. */
interface Watcher {
  readonly change: Promise<void>;
  readonly onChange: () => void;
}

const noop = (): void => undefined;

/** @param isSeen asked at each call; a call counts only if it answers true. */
function watcher(isSeen: () => Promise<boolean> = () => Promise.resolve(true)): Watcher {
  let onChange = noop;
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

/** Watches while `a` runs, ends the run, and expects that all watchers hear of it. */
async function expectHeard(
  trial: Trial,
  watchers: readonly (readonly [view: KeyView, watcher: Watcher])[],
  end: (view: KeyView) => unknown,
): Promise<void> {
  await trial.one.acquire('a', LONG);
  const stops = await Promise.all(watchers.map(([view, { onChange }]) => view.watch(onChange)));
  await end(trial.one);
  for (const [, { change }] of watchers) await trial.notified(change);
  for (const stop of stops) stop();
}

export const watchFacts: readonly Fact[] = [
  ...ENDS.flatMap(([title, end, next]): Fact[] => [
    [
      `notifies all watchers in all processes when the run was ${title}`,
      trial => {
        const views = [trial.one, trial.other, trial.other];
        return expectHeard(
          trial,
          views.map(view => [view, watcher()] as const),
          end,
        );
      },
    ],
    [
      `notifies when other tokens can see that the run was ${title}`,
      trial => {
        // A call that comes too early is allowed if another one follows.
        const isSeen = async (): Promise<boolean> => (await trial.other.acquire('b', LONG)).kind === next;
        return expectHeard(trial, [[trial.other, watcher(isSeen)]], end);
      },
    ],
  ]),
  ...OTHERS.map(([title, hasSameFunction, isBefore]): Fact => [
    title,
    async trial => {
      const heard = watcher();
      const stopOther = await trial.one.watch(hasSameFunction ? heard.onChange : noop);
      if (isBefore) stopOther();
      await expectHeard(trial, [[trial.one, heard]], () => {
        if (!isBefore) stopOther();
        return trial.other.complete('a', LONG);
      });
    },
  ]),
  [
    'makes no call after the watch was stopped',
    async trial => {
      let calls = 0;
      const stop = await trial.one.watch(() => {
        calls++;
      });
      stop();
      // A call before that comes too often, which is allowed.
      calls = 0;
      await expectHeard(trial, [[trial.one, watcher()]], () => trial.other.complete('a', LONG));
      trial.holds(calls === 0, 'onChange was called after its watch was stopped', 'no call');
    },
  ],
];
