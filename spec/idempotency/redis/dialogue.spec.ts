import type { RedisConnection } from '../../../lib/idempotency/redis/connection';
import { RedisDialogue } from '../../../lib/idempotency/redis/dialogue';

describe('a question to Redis, asked again and again,', () => {
  let replaced = 0;
  let dialogue: RedisDialogue;
  beforeEach(() => {
    jest.useFakeTimers();
    replaced = 0;
    const connection: Partial<RedisConnection> = {
      keepsDeadConnection: true,
      reopen: () => {
        replaced++;
      },
    };
    dialogue = new RedisDialogue(connection as RedisConnection);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Asks for a minute. Each question ends in the same way, after half a second. */
  async function askAgainAndAgain(end: () => unknown): Promise<void> {
    for (let question = 1; question <= 120; question++) {
      const answer = new Promise<void>(resolve => setTimeout(resolve, 500)).then(end);
      dialogue.hear(answer).catch(() => undefined);
      await jest.advanceTimersByTimeAsync(500);
    }
  }

  const fails = (message: string, properties = {}): (() => never) => {
    return () => {
      throw Object.assign(new Error(message), properties);
    };
  };

  it.each<[end: string, () => unknown]>([
    ['is answered', () => 'text'],
    ['finds nothing', () => null],
    ['is refused by the server', fails("NOPERM User default has no permissions to run the 'eval' command")],
    ['is refused by the server as a part of several', fails('1 commands failed', { errorIndexes: [1] })],
  ])('leaves the connection alone when it %s', async (_end, end) => {
    await askAgainAndAgain(end);
    expect(replaced).toBe(0);
  });

  it.each<[end: string, () => unknown]>([
    ['is given up by ioredis', fails('Command timed out')],
    ['fails with the connection', fails('Socket closed unexpectedly')],
    ['fails in a Keyv that does not say so: get', () => undefined],
    ['fails in a Keyv that does not say so: set', () => false],
  ])('replaces the connection when it %s, and nothing else is answered', async (_end, end) => {
    await askAgainAndAgain(end);
    expect(replaced).toBeGreaterThan(0);
  });
});
