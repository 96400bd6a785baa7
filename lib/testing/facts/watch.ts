import { LONG } from '../check';
import type { KeyView } from '../key-view';
import type { Fact } from '../trial';

/** Watches, and returns a promise of the first call of `onChange`. */
async function firstChange(view: KeyView): Promise<{ readonly change: Promise<void>; readonly stop: () => void }> {
  let onChange = (): void => undefined;
  const change = new Promise<void>(resolve => {
    onChange = resolve;
  });
  return { change, stop: await view.watch(() => onChange()) };
}

const ENDS: readonly (readonly [title: string, end: (view: KeyView) => Promise<boolean>])[] = [
  ['completed', view => view.complete('a', LONG)],
  ['released', view => view.release('a')],
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
  [
    'notifies of no other key',
    async ({ one, other, at, check, notified }) => {
      let isMistaken = false;
      const stopOther = await at('.other').one.watch(() => {
        isMistaken = true;
      });
      const { change, stop } = await firstChange(one);
      await one.acquire('a', LONG);
      await other.complete('a', LONG);
      await notified(change);
      check.that(!isMistaken, 'onChange of another key was called', 'no call');
      stopOther();
      stop();
    },
  ],
];
