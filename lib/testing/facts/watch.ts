import type { Acquisition } from '../../idempotency/leases/lease-store';
import { LONG } from '../check';
import type { KeyView } from '../key-view';
import type { Fact } from '../trial';

/**
 * Makes a function to watch with, and a promise of its first call.
 * @param isSeen asked at each call; a call counts only if it answers true.
 */
function awaited(isSeen = (): Promise<boolean> => Promise.resolve(true)): {
  readonly change: Promise<void>;
  readonly onChange: () => void;
} {
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

/** Watches, and returns a promise of the first call of `onChange`, and the function that stops the watch. */
async function firstChange(
  view: KeyView,
  isSeen?: () => Promise<boolean>,
): Promise<{ readonly change: Promise<void>; readonly stop: () => void }> {
  const { change, onChange } = awaited(isSeen);
  return { change, stop: await view.watch(onChange) };
}

/** How a run ends, and what another token is answered then. */
const ENDS: readonly (readonly [title: string, end: (view: KeyView) => Promise<boolean>, next: Acquisition['kind']])[] =
  [
    ['completed', view => view.complete('a', LONG), 'done'],
    ['released', view => view.release('a'), 'acquired'],
  ];

export const watchFacts: readonly Fact[] = [
  ...ENDS.map(([title, end]): Fact => [
    `notifies all watchers in all processes when the run was ${title}`,
    async ({ one, other, notified }) => {
      await one.acquire('a', LONG);
      const watchers = [await firstChange(one), await firstChange(other), await firstChange(other)];
      await end(one);
      for (const { change } of watchers) await notified(change);
      for (const { stop } of watchers) stop();
    },
  ]),
  [
    'continues for other watchers when one stops',
    async ({ one, other, notified }) => {
      await one.acquire('a', LONG);
      const stopped = await firstChange(one);
      const { change, stop } = await firstChange(one);
      stopped.stop();
      await other.complete('a', LONG);
      await notified(change);
      stop();
    },
  ],
  [
    'continues for other watchers with the same function when one stops',
    async ({ one, other, notified }) => {
      await one.acquire('a', LONG);
      const { change, onChange } = awaited();
      const [first, second] = [await one.watch(onChange), await one.watch(onChange)];
      first();
      await other.complete('a', LONG);
      await notified(change);
      second();
    },
  ],
  [
    'makes no call after the watch was stopped',
    async ({ one, other, check, notified }) => {
      let calls = 0;
      const stopped = await one.watch(() => {
        calls++;
      });
      stopped();
      // A call before that comes too often, which is allowed.
      calls = 0;
      const { change, stop } = await firstChange(one);
      await one.acquire('a', LONG);
      await other.complete('a', LONG);
      await notified(change);
      stop();
      check.that(calls === 0, 'onChange was called after its watch was stopped', 'no call');
    },
  ],
  ...ENDS.map(([title, end, next]): Fact => [
    `notifies when other tokens can see that the run was ${title}`,
    async ({ one, other, notified }) => {
      await one.acquire('a', LONG);
      // A call that comes too early is allowed if another one follows.
      const { change, stop } = await firstChange(other, async () => (await other.acquire('b', LONG)).kind === next);
      await end(one);
      await notified(change);
      stop();
    },
  ]),
  [
    'can begin again after the last watcher stopped',
    async ({ one, other, notified }) => {
      await one.acquire('a', LONG);
      (await firstChange(one)).stop();
      const { change, stop } = await firstChange(one);
      await other.complete('a', LONG);
      await notified(change);
      stop();
    },
  ],
];
