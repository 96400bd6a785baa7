import { duration } from './words.js';

/**
 * @typedef {import('./requests.js').Row} Row
 * @typedef {'strong' | 'quiet' | 'bad'} Tone
 * @typedef {{ word: string, text: string, tone: Tone }} Outcome
 */

/** @typedef {Record<import('../messages').RequestEvent['kind'], (ms: string, by: string) => [string, string, Tone]>} Table */

/** The words for what the shop did, by kind of event. @type {Table} */
const done = {
  paying: (_ms, by) => ['Running', `${by} takes the payment`, 'strong'],
  executed: (ms, by) => ['Executed', `by ${by} in ${ms}`, 'strong'],
  unguarded: (ms, by) => ['Executed', `by ${by} in ${ms}`, 'strong'],
  'not-stored': (ms, by) => ['Executed', `by ${by} in ${ms}; its response is not stored`, 'strong'],
  forgotten: (ms, by) => ['Executed', `by ${by} in ${ms}; the shop did not want its response stored`, 'strong'],
  waited: (ms, by) => ['Waited', `${ms} in ${by}, then got the response of the first request`, 'quiet'],
  replayed: (ms, by) => ['Replayed', `${by} sent the stored response in ${ms}`, 'quiet'],
  conflicted: (_ms, by) => ['Refused', `409 by ${by}: the first request still runs`, 'quiet'],
  unavailable: (_ms, by) => ['Refused', `409 by ${by}: the first request has run, and its response is lost`, 'bad'],
  'outcome-unknown': (_ms, by) => ['Refused', `409 by ${by}: nobody knows whether the first request has run`, 'bad'],
  reused: (_ms, by) => ['Refused', `422 by ${by}: the key belongs to another request`, 'quiet'],
  refused: (_ms, by) => ['Refused', `by ${by}: the request is invalid, or the shop has failed`, 'quiet'],
  abandoned: (_ms, by) => ['Left', `before ${by} had an answer`, 'quiet'],
  'store-failed': (_ms, by) => ['Refused', `503 by ${by}: the store does not answer; this request ran nothing`, 'bad'],
  'lease-lost': (_ms, by) => ['Lease lost', `${by} took too long; another process may run it`, 'bad'],
};

/**
 * Says what came of a request, by what the shop reports and else by what this page saw.
 * @param {Row} row
 * @returns {Outcome}
 */
export function outcomeOf(row) {
  const { event, page, killed } = row;
  if (page === 'not-sent')
    return {
      word: 'Not sent',
      text: `offline, ${row.tries} ${row.tries === 1 ? 'attempt' : 'attempts'}`,
      tone: 'quiet',
    };
  if (!event)
    return { word: page === 'lost' ? 'No answer' : 'Sent', text: 'the shop has not reported it yet', tone: 'quiet' };
  if (isDead(row)) return { word: 'Died', text: `process ${event.process} was killed during the payment`, tone: 'bad' };
  const [word, text, tone] = done[event.kind](duration(event.durationMs ?? 0), `process ${event.process}`);
  // A browser repeats a request by itself if its connection, used before, is closed without an answer.
  const again =
    killed === undefined ? '' : `, after process ${killed.process} was killed and the browser had sent it again`;
  const lost = page === 'lost' ? '; this page had lost the connection' : '';
  return { word, text: `${text}${again}${lost}`, tone };
}

/**
 * Tells whether a request ended with its process.
 * @param {Row} row
 */
export const isDead = ({ event, killed }) => event?.kind === 'paying' && event.process === killed?.process;

/**
 * Tells whether the handler has run to its end for a request.
 * @param {Row} row
 */
export const hasRun = ({ event }) =>
  event !== undefined && ['executed', 'unguarded', 'not-stored', 'forgotten'].includes(event.kind);

/**
 * Tells whether more news of a request is to come.
 * @param {Row} row
 */
export function isOpen(row) {
  return row.event ? row.event.kind === 'paying' && !isDead(row) : row.page === 'sent';
}
