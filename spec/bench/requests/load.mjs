import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';

/** Connections that send at one time, each one request after the other. */
const CONNECTIONS = 20;

export const jsonHeaders = (key = randomUUID()) => ({ 'Content-Type': 'application/json', 'Idempotency-Key': key });

/**
 * Sends requests, and checks every answer.
 * @param {URL} url of the server
 * @param {readonly { path?: string, headers: Record<string, string>, body: string }[]} requests
 * @param {number} status the one that every answer must have
 * @returns the milliseconds that each request took
 */
export async function send(url, requests, status) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const latencies = [];
  const awake = stayAwake();
  const queue = requests.values();
  const connection = async () => {
    for (const { path = '/', headers, body } of queue) {
      const started = performance.now();
      const answered = await statusOf(agent, new URL(path, url), headers, body);
      if (answered !== status) throw new Error(`${url.href} answered ${answered} instead of ${status}`);
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  awake.stop();
  agent.destroy();
  return latencies;
}

/**
 * Keeps this process from waiting for answers asleep: to wake a process on another core takes a server some 40 µs of
 * its own CPU time, which a server that answers more slowly has to pay more often.
 */
function stayAwake() {
  let isSending = true;
  const turn = () => {
    if (isSending) setImmediate(turn);
  };
  turn();
  return { stop: () => (isSending = false) };
}

function statusOf(agent, url, headers, body) {
  return new Promise((resolve, reject) => {
    request(url, { agent, method: 'POST', headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) } })
      .on('response', response => response.resume().on('end', () => resolve(response.statusCode)))
      .on('error', reject)
      .end(body);
  });
}
