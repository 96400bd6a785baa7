import type { RecordedResponse } from '../idempotency/responses/recorded-response';
import type { Store } from '../idempotency/stores/store';
import { step } from './lease-model';
import { LONG, type Trial } from './trial';

/** Two views of the same data, as two processes have them. */
export interface StoreUnderTest {
  readonly one: Store;
  readonly other: Store;
  /** For a store with `commit`: runs its statement in a transaction of its own. @returns its rows. */
  execute?(text: string, values: string[]): Promise<readonly unknown[]>;
  /** Called after the last test. */
  close?(): unknown;
}

/** Tries whether a store keeps a promise. @param trial of its leases, on a key that was never used. */
type Fact = (trial: Trial, stores: StoreUnderTest) => Promise<void>;

const HEADERS = [['X-Text', 'ü "\\ \u2028'] as const, ['Set-Cookie', ['a=1', 'b=2']] as const];
const BODY = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const RESPONSE: RecordedResponse = { status: 201, reason: 'Made', headers: HEADERS, body: BODY, trailers: HEADERS };

async function expectResponse(trial: Trial, { responses }: Store, token: string, expected?: RecordedResponse) {
  trial.equal(await responses.get(trial.key, token, LONG), expected, `The response of ${token} is`);
}

/** Facts of stores that hold both, by the promise that is tried. */
export const responseFacts: Readonly<Record<string, Fact>> = {
  'a response is read as it was written, under its own key and token': async (trial, { one, other }) => {
    for (const token of ['a', 'b']) await one.responses.set(trial.key, token, RESPONSE, LONG);
    await expectResponse(trial, other, 'a', RESPONSE);
    await expectResponse(trial, other, 'c');
    await expectResponse(trial.again(), other, 'a');
    await other.responses.delete(trial.key, 'a');
    await expectResponse(trial, one, 'a');
    await expectResponse(trial, one, 'b', RESPONSE);
  },
  'commit() marks the run done and keeps its response, if its token has the key': async (trial, stores) => {
    const { one, other } = stores;
    if (!one.commit) return;
    const expectRows = async (token: string, expected: number): Promise<void> => {
      const statement = one.commit?.(trial.key, token, RESPONSE, LONG);
      const rows = await stores.execute?.(statement?.text ?? '', statement?.values ?? []);
      trial.equal(rows?.length, expected, `execute(), which runs the statement of ${token}, returns rows:`);
    };
    await expectRows('a', 0);
    await trial.take('one', step('acquire', 'a'));
    await expectRows('b', 0);
    await trial.expect({ kind: 'running', token: 'a' }, 'other', step('acquire', 'b'));
    await expectRows('a', 1);
    await trial.expect({ kind: 'done', token: 'a' }, 'other', step('acquire', 'b'));
    await expectResponse(trial, other, 'a', RESPONSE);
    await expectRows('a', 0);
  },
};
