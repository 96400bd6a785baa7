import type { LeaseStore } from '../../../lib';
import { signal } from '../../support/signal';

/** What the facts about wake-ups run on: two views of the same data, and a key that nobody has used. */
export interface Watched {
  readonly one: LeaseStore;
  readonly other: LeaseStore;
  readonly key: string;
}

const LONG = 60_000;

/** The facts about `watch`, for stores that have it. */
export function leaseWatchContract(current: () => Watched): void {
  describe('watch', () => {
    it.each<[string, (watched: Watched) => unknown]>([
      ['completed', ({ one, key }) => one.complete(key, 'a', LONG)],
      ['released', ({ one, key }) => one.release(key, 'a')],
    ])('tells all watchers in all processes that the run was %s', async (_title, end) => {
      const { one, other, key } = current();
      await one.acquire(key, 'a', LONG);
      const told = [one, other, other].map(store => ({ store, change: signal() }));
      const stops = await Promise.all(
        told.map(({ store, change }) =>
          store.watch?.(key, () => {
            change.happens();
          }),
        ),
      );
      await end(current());
      for (const { store, change } of told) if (store.watch) await change.happened;
      for (const stop of stops) stop?.();
    });

    it('goes on for others when one stops', async () => {
      const { one, other, key } = current();
      if (!one.watch) return;
      await one.acquire(key, 'a', LONG);
      const change = signal();
      const stopped = await one.watch(key, () => undefined);
      const stop = await one.watch(key, () => {
        change.happens();
      });
      stopped();
      await other.complete(key, 'a', LONG);
      await change.happened;
      stop();
    });

    it('can be begun again after the last one stopped', async () => {
      const { one, other, key } = current();
      if (!one.watch) return;
      await one.acquire(key, 'a', LONG);
      (await one.watch(key, () => undefined))();
      const change = signal();
      const stop = await one.watch(key, () => {
        change.happens();
      });
      await other.complete(key, 'a', LONG);
      await change.happened;
      stop();
    });

    it('tells nothing about other keys', async () => {
      const { one, other, key } = current();
      const changes: string[] = [];
      const change = signal();
      const stops = [
        await one.watch?.(`${key}.other`, () => {
          changes.push('other');
        }),
        await one.watch?.(key, () => {
          change.happens();
        }),
      ];
      await one.acquire(key, 'a', LONG);
      await other.complete(key, 'a', LONG);
      if (one.watch) await change.happened;
      expect(changes).toEqual([]);
      for (const stop of stops) stop?.();
    });
  });
}
