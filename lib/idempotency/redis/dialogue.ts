import { randomBytes } from 'node:crypto';
import { answerText, unreadable, wholeNumberIn } from './answers';
import type { Keys, RedisConnection } from './connection';
import { isIoredisClient, overIoredis } from './ioredis';
import { isNodeRedisClient, overNodeRedis } from './node-redis';
import { numbered } from './scripts';
import { Silence } from './silence';

/** The beginning of the number of every question: two copies of this module on one client have different numbers. */
const COPY = randomBytes(6).toString('hex');
let questions = 0;

const NOTHING = numbered("return ''");
/** Returns `text <the text>`, or `none` if there is nothing under the key, or no text. */
const TEXT = numbered(`local text = redis.pcall('GET', KEYS[1])
if not text or type(text) == 'table' and string.find(text.err, 'WRONGTYPE', 1, true) then return 'none' end
return 'text ' .. text`);

/** Milliseconds between two connections, at least, if the address still leads to a replica. */
const SHORTEST_CONNECTION = 1_000;

/**
 * Asks Redis by scripts that repeat the number of the question in their answer.
 *
 * A client pairs answers with commands by their order, and can lose count when a connection breaks, as node-redis 5
 * does ({@link keepInStep}). From then on each command gets the answer to another, for as long as the connection lasts:
 * a lease that is not ours, the response of another customer. An answer with another number shows this: it is an error,
 * and the connection is replaced.
 */
export class RedisDialogue {
  /** When a replica was left last, in milliseconds of the monotonic clock. */
  private leftReplica = -Infinity;
  private readonly silence: Silence | undefined;

  constructor(private readonly connection: RedisConnection) {
    if (connection.keepsDeadConnection)
      this.silence = new Silence(() => {
        connection.reopen();
      });
  }

  /** False if the client cannot wait for replicas. */
  get canWaitForReplicas(): boolean {
    return this.connection.evaluateAndWait !== undefined;
  }

  /** True for a client that the application has closed. */
  get isClosed(): boolean {
    return this.connection.isClosed;
  }

  /** Lets a request that begins open a client, also one that the application has closed. */
  open(): void {
    this.connection.open?.();
  }

  /** Runs a script. @throws Error for the answer to another question. */
  async ask(script: string, keys: Keys, args: readonly string[]): Promise<string> {
    const number = nextNumber();
    const evaluated = this.connection.evaluate(script, keys, [...args, number]);
    return this.answerTo(number, await this.hear(evaluated));
  }

  /** Runs a script. @returns its answer, and how many replicas have what it wrote. @throws Error as `ask` does. */
  async askReplicas(
    script: string,
    keys: Keys,
    args: readonly string[],
    replicas: number,
    ms: number,
  ): Promise<readonly [answer: string, reached: number]> {
    const number = nextNumber();
    const evaluated = this.connection.evaluateAndWait?.(script, keys, [...args, number], replicas, ms);
    if (!evaluated) throw new Error('bindonce: this Redis client cannot wait for replicas');
    const [raw, reached] = await this.hear(evaluated, ms);
    return [this.answerTo(number, raw), wholeNumberIn(reached)];
  }

  /**
   * Waits for an answer. What Keyv asks over the same client shows, too, whether the connection is dead.
   * @param waits milliseconds that the server waits before it answers, or that a long text travels, at most.
   */
  async hear<T>(answer: Promise<T>, waits = 0): Promise<T> {
    const asked = this.silence?.asked(waits) ?? 0;
    let isOfServer = false;
    try {
      const heard = await answer;
      // Keyv 6 returns these instead of an error.
      isOfServer = heard !== undefined && heard !== false;
      return heard;
    } catch (error) {
      isOfServer = isReply(error);
      this.leaveReplica(error);
      throw error;
    } finally {
      if (isOfServer) this.silence?.heard(asked, waits);
      else this.silence?.failed(asked, waits);
    }
  }

  /**
   * Returns false when the last answer may have been the answer to another command.
   * @param key a key that the question may use: an account may be restricted to some keys.
   */
  isInStep(key: string): Promise<boolean> {
    return this.ask(NOTHING, [key], []).then(
      answer => answer === '',
      () => false,
    );
  }

  /** Returns the text that the master has under a key; null if it has none; undefined if it cannot be asked. */
  async textAt(key: string): Promise<string | null | undefined> {
    const answer = await this.ask(TEXT, [key], []).catch(() => undefined);
    return answer?.startsWith('text ') === true ? answer.slice('text '.length) : answer === 'none' ? null : undefined;
  }

  /**
   * Replaces the connection if the error says that it leads to a replica: after a failover, the server that was the
   * master keeps its connections, and its address may lead to the new master.
   */
  leaveReplica(error: unknown): void {
    const isReplica = error instanceof Error && /\bREADONLY\b/.test(error.message);
    if (!isReplica || performance.now() < this.leftReplica + SHORTEST_CONNECTION) return;
    this.leftReplica = performance.now();
    this.connection.reopen();
  }

  subscriber(onMessage: (channel: string) => void): ReturnType<RedisConnection['subscriber']> {
    return this.connection.subscriber(onMessage);
  }

  private answerTo(number: string, raw: unknown): string {
    const text = answerText(raw);
    if (text.startsWith(`${number} `)) return text.slice(number.length + 1);
    this.connection.reopen();
    return unreadable(text, 'It is the answer to another command, so the connection is replaced.');
  }
}

/**
 * Returns true for an error that the server has replied, false for one of the client: it was closed, or has stopped to
 * wait. Redis begins an error with a code in capitals (`ERR`, `NOPERM`). node-redis makes one error of those of a
 * pipeline, with `errorIndexes`. (The names of classes are lost in bundles.)
 */
const isReply = (error: unknown): boolean =>
  error instanceof Error && (/^[A-Z]{2,} /.test(error.message) || 'errorIndexes' in error);

const nextNumber = (): string => `${COPY}${(++questions).toString(36)}`;

/** One for each client, because a dialogue remembers whether the client was open. */
const dialogues = new WeakMap<object, RedisDialogue>();

/** @returns undefined for a client of an unknown library. */
export function dialogueWith(client: unknown): RedisDialogue | undefined {
  if (typeof client !== 'object' || client === null) return undefined;
  const existing = dialogues.get(client);
  if (existing) return existing;
  const connection = connectionOver(client);
  if (!connection) return undefined;
  const created = new RedisDialogue(connection);
  dialogues.set(client, created);
  return created;
}

/** Uses the connection of Keyv's adapter. @returns undefined for an adapter of another store. */
export function dialogueUnder(adapter: object): RedisDialogue | undefined {
  const { client, redis = client } = adapter as { client?: unknown; redis?: unknown };
  return dialogueWith(redis);
}

function connectionOver(client: object): RedisConnection | undefined {
  if (isNodeRedisClient(client)) return overNodeRedis(client);
  return isIoredisClient(client) ? overIoredis(client) : undefined;
}
