import { element } from './element.js';
import { isDead, isOpen } from './outcome.js';

/** @typedef {import('./requests.js').Row} Row */

/**
 * Returns when a request ended, also for the shop, which goes on when a client has lost its connection.
 * @param {Row} row
 */
export function endOf(row) {
  const { start, end = start, page, event, killed } = row;
  if (isOpen(row)) return Date.now();
  if (page === undefined) return isDead(row) ? (killed?.at ?? start) : (event?.at ?? start);
  return page === 'lost' && event?.durationMs !== undefined ? start + event.durationMs : end;
}

/**
 * Draws a request on the time axis of its cart: hatched while it waits, solid while the handler runs, and a mark where
 * the connection was lost.
 * @param {Row} row
 * @param {{ from: number, to: number }} axis
 */
export function barOf(row, { from, to }) {
  const bar = element('div', { className: 'bar', ariaHidden: 'true' });
  const percent = (/** @type {number} */ ms) => `${(100 * ms) / (to - from)}%`;
  const part = (/** @type {string} */ className, /** @type {number} */ start, /** @type {number} */ end) => {
    const made = element('span', { className });
    made.style.left = percent(start - from);
    if (end > start) made.style.width = percent(end - start);
    bar.append(made);
  };
  const end = endOf(row);
  const running = runningOf(row, end);
  if (running > row.start) part('waiting', row.start, running);
  if (running < end) part(isDead(row) ? 'running dead' : 'running', running, end);
  if (row.page === 'lost' && row.end !== undefined) part('lost', row.end, row.end);
  return bar;
}

/**
 * Returns when the handler began to run for a request; its end if it did not.
 * @param {Row} row
 * @param {number} end
 */
function runningOf({ event, start }, end) {
  if (event?.kind === 'paying') return Math.min(Math.max(start, event.at), end);
  return event?.handlerMs === undefined ? end : Math.max(start, end - event.handlerMs);
}
