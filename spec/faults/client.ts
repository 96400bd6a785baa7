/**
 * A client process of the storm. It orders things, each under a key of its own, sends duplicates at once, hangs up, and
 * tries each key again until it has a definite answer; now and then it asks for an old key again. It writes down every whole
 * answer. When it is told that the storm is over it finishes what it has begun, and then asks once more for every key that
 * the store has not been made to forget.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Journal, now } from './journal';
import { Random } from './random';

const { PORTS = '', JOURNAL = '', SEED = '0', NAME = '', LEASE = '0' } = process.env;
const ports = PORTS.split(',').map(Number) as [number, ...number[]];
const lease = Number(LEASE);
/** Keys that are on their way at one time. */
const AT_ONCE = 24;
/** How far back the keys lie that are asked for again in the storm. */
const RECENT = 300;
/** Milliseconds after which a request counts as one that nobody answers. */
const PATIENCE = 20_000;
/** Headers that belong to one exchange, not to the answer. */
const PER_EXCHANGE = /^(date|connection|keep-alive|transfer-encoding|idempotent-replayed):/i;

const journal = new Journal(JOURNAL);
const random = new Random(Number(SEED));
const agent = new Agent({ keepAlive: true });
let stormy = true;
let hangUps = 0;
const orders: Order[] = [];

/** One thing to be ordered once. */
interface Order {
  /** Customer and idempotency key together. */
  readonly identity: string;
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function nextOrder(): Order {
  const number = orders.length;
  // Each key is used by two customers.
  const [customer, key] = [`${NAME}-${number % 2}`, `order-${NAME}-${Math.floor(number / 2)}`];
  const identity = `${customer}/${key}`;
  // Most work is short, some takes longer than a lease.
  const work = random.chance(3) ? random.between(lease, 2 * lease) : random.between(0, 30);
  const order = {
    identity,
    at: now(),
    headers: {
      Host: 'orders',
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
      'X-Customer': customer,
      'X-Identity': identity,
      'X-Work': String(work),
      'X-Lines': String(random.chance(5) ? 20_000 : random.between(0, 50)),
      ...(random.chance(30) && { 'X-Chunked': 'yes' }),
    },
    body: JSON.stringify({ sku: 'tea', quantity: number }),
  };
  orders.push(order);
  return order;
}

/** Sends an order until it gets a definite answer. */
async function insist(order: Order): Promise<void> {
  while (!(await attempt(order, random.pick(ports), stormy && random.chance(8) ? random.between(0, 60) : undefined)))
    await pause(random.between(5, 50));
}

/** @param patience milliseconds after which the client hangs up. @returns whether the answer was definite. */
async function attempt(
  { identity, headers, body }: Order,
  port: number,
  patience: number | undefined,
): Promise<boolean> {
  const from = now();
  const sent = request({ host: '127.0.0.1', port, path: '/orders', method: 'POST', headers, agent });
  // A connection may be reset behind the head of its response: then reading the body fails, too.
  sent.on('error', () => undefined);
  const timer = setTimeout(() => {
    if (patience === undefined)
      journal.write({
        what: 'breach',
        key: identity,
        detail: `no answer from port ${port} within ${PATIENCE} ms`,
        from,
      });
    else hangUps++;
    sent.destroy();
  }, patience ?? PATIENCE);
  try {
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return response.complete && isDefinite(identity, response, Buffer.concat(chunks));
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function isDefinite(
  key: string,
  { statusCode: status = 0, statusMessage, headers, rawHeaders, rawTrailers }: IncomingMessage,
  body: Buffer,
): boolean {
  const text = body.toString();
  const isRetryable = status === 503 || (status === 409 && text.includes('request-in-flight'));
  if (isRetryable) return false;
  const lines = rawHeaders
    .flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []))
    .filter(line => !PER_EXCHANGE.test(line));
  const digest = createHash('sha256')
    .update(JSON.stringify([status, statusMessage, lines, rawTrailers]))
    .update(body)
    .digest('base64');
  journal.write({
    what: 'answered',
    key,
    run: String(headers['x-run']),
    status,
    digest,
    owner: ownerOf(text),
    replayed: headers['idempotent-replayed'] === 'true',
  });
  return true;
}

/** Whose data an answer holds. */
function ownerOf(text: string): string {
  try {
    return String((JSON.parse(text) as { key?: unknown }).key);
  } catch {
    return 'nobody';
  }
}

async function keepOrdering(): Promise<void> {
  while (stormy) {
    const order = nextOrder();
    const duplicates = random.chance(50) ? random.between(2, 4) : 1;
    const old = random.chance(30) ? orders[Math.max(0, orders.length - random.between(1, RECENT))] : undefined;
    await Promise.all([...Array.from({ length: duplicates }, () => insist(order)), old && insist(old)]);
  }
}

async function inTurn(all: readonly Order[]): Promise<void> {
  const waiting = [...all];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let order = waiting.pop(); order; order = waiting.pop()) await insist(order);
    }),
  );
}

/** What the storm tells its clients: it is over; ask again for what was ordered since then. */
export type Word = 'calm' | { readonly verifySince: number };

async function main(): Promise<void> {
  const word = new Promise<number>(resolve => {
    process.on('message', (message: Word) => {
      if (message === 'calm') stormy = false;
      else resolve(message.verifySince);
    });
  });
  const report = (): void => {
    process.send?.({ keys: orders.length, hangUps });
  };
  const reporting = setInterval(report, 250);
  await Promise.all(Array.from({ length: AT_ONCE }, keepOrdering));
  clearInterval(reporting);
  report();
  process.send?.('settled');
  const since = await word;
  await inTurn(orders.filter(({ at }) => at >= since));
  agent.destroy();
  process.send?.('verified');
  process.disconnect();
}

void main();
