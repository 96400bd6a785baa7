import type { LeaseStore } from '../leases/lease-store';
import type { RecordedResponse } from '../responses/recorded-response';
import type { ResponseStore } from './responses';

/** Leases and responses in one place. */
export interface Store {
  readonly leases: LeaseStore;
  readonly responses: ResponseStore;
  /**
   * Optional: makes the one statement that `commitWith` runs in a transaction of the application. It marks the run of
   * `token` done, if the token still has the key, keeps its response, and returns a row; else it returns none.
   * @param ms milliseconds that the run is recorded; its response must be kept a little longer.
   */
  commit?(
    key: string,
    token: string,
    response: RecordedResponse,
    ms: number,
  ): { readonly text: string; readonly values: string[] };
}

/** Returns true for an object with the methods of both. */
export function isStore(value: unknown): value is Store {
  const { leases, responses } = Object(value) as Partial<Store>;
  const has = (object: unknown, ...names: readonly string[]): boolean =>
    names.every(name => typeof (Object(object) as Readonly<Record<string, unknown>>)[name] === 'function');
  return has(leases, 'acquire', 'renew', 'complete', 'release') && has(responses, 'get', 'set', 'delete');
}
