import { memoryLeases, type LeaseStore } from '../../lib';
import { signal } from './signal';

type Step = 'acquire' | 'renew' | 'complete' | 'release';

/** What happens before or after a step is carried out: it can be held up, or fail. */
export type Hooks = Partial<Record<Step, (key: string, token: string) => void | Promise<void>>>;

/** Leases in memory, with hooks of a spec around each step: a store that is slow, out of reach, or loses its answers. */
export class HookedLeases implements LeaseStore {
  readonly leases = memoryLeases();

  constructor(
    readonly before: Hooks = {},
    readonly after: Hooks = {},
  ) {}

  acquire(key: string, token: string, ms: number) {
    return this.carryOut('acquire', key, token, () => this.leases.acquire(key, token, ms));
  }

  renew(key: string, token: string, ms: number) {
    return this.carryOut('renew', key, token, () => this.leases.renew(key, token, ms));
  }

  complete(key: string, token: string, ms: number) {
    return this.carryOut('complete', key, token, () => this.leases.complete(key, token, ms));
  }

  release(key: string, token: string) {
    return this.carryOut('release', key, token, () => this.leases.release(key, token));
  }

  private async carryOut<T>(step: Step, key: string, token: string, act: () => T | Promise<T>): Promise<T> {
    await this.before[step]?.(key, token);
    const answer = await act();
    await this.after[step]?.(key, token);
    return answer;
  }
}

/** Leases in memory of which one step waits until the spec says so. */
export function heldLeases(step: Step) {
  const [asked, mayGoOn] = [signal(), signal()];
  const hold = (): Promise<void> => {
    asked.happens();
    return mayGoOn.happened;
  };
  return { leases: new HookedLeases({ [step]: hold }), asked: asked.happened, goOn: () => mayGoOn.happens() };
}
