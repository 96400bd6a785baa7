import { barOf, endOf } from './bar.js';
import { element } from './element.js';
import { hasRun, isOpen, outcomeOf } from './outcome.js';
import { nameOf, short, timeOfDay, times } from './words.js';

/**
 * @typedef {import('./requests.js').Requests} Requests
 * @typedef {import('./requests.js').Cart} Cart
 * @typedef {import('./requests.js').Row} Row
 * @typedef {{ at: number, item: HTMLElement }} Entry
 */

const MOST_ENTRIES = 20;
/** Milliseconds: a shorter time axis would make bars of nothing look long. */
const SHORTEST_AXIS = 900;

/** Shows the latest carts, each with its requests, between starts and ends of processes. */
export class Timeline {
  #list;
  #requests;
  #isInMemory = false;
  #isPlanned = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next;

  /**
   * @param {HTMLElement} list
   * @param {Requests} requests
   */
  constructor(list, requests) {
    this.#list = list;
    this.#requests = requests;
  }

  /**
   * Says where the shop keeps its orders.
   * @param {boolean} isInMemory
   */
  ordersAre(isInMemory) {
    this.#isInMemory = isInMemory;
    this.draw();
  }

  /** Draws with the next frame, and again while bars grow. */
  draw() {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    clearTimeout(this.#next);
    requestAnimationFrame(() => {
      this.#isPlanned = false;
      const { carts, processes } = this.#requests;
      const ofCarts = [...carts.values()].map(cartEntry);
      const ofProcesses = [...processes.values()].map(event => processEntry(event, this.#isInMemory));
      const latest = [...ofCarts, ...ofProcesses].sort((a, b) => b.at - a.at).slice(0, MOST_ENTRIES);
      const hint = element('li', { className: 'rest' }, 'Place an order, and see here what became of its requests.');
      this.#list.replaceChildren(...(carts.size === 0 ? [hint] : []), ...latest.map(({ item }) => item));
      const isGrowing = [...carts.values()].some(({ rows }) => [...rows.values()].some(isOpen));
      if (isGrowing) this.#next = setTimeout(() => this.draw(), 100);
    });
  }
}

/**
 * @param {import('../messages').ProcessEvent} event
 * @param {boolean} isInMemory whether orders are lost with their process
 * @returns {Entry}
 */
function processEntry({ kind, process, at }, isInMemory) {
  const death = isInMemory ? 'died, and its orders with it: they were in its memory' : 'died';
  const text = `Process ${process} ${kind === 'process-ended' ? death : 'started'}`;
  return { at, item: element('li', { className: 'process' }, element('time', {}, timeOfDay(at)), ` ${text}`) };
}

/**
 * @param {Cart} cart
 * @returns {Entry}
 */
function cartEntry({ path, key, start, rows }) {
  const [, customer = '', what = ''] = /\/customers\/([^/?]+)\/(\w+)/.exec(path) ?? [];
  const all = [...rows.values()].sort((a, b) => a.start - b.start);
  const from = Math.min(...all.map(row => row.start));
  const to = Math.max(from + SHORTEST_AXIS, ...all.map(endOf));
  const title = element(
    'div',
    { className: 'cart-title' },
    element('time', {}, timeOfDay(start)),
    element('strong', {}, nameOf(decodeURIComponent(customer))),
    element(
      'span',
      { className: 'key' },
      key ? `key ${short(key)}` : `without a key${what === 'documents' ? ', a document' : ''}`,
    ),
    verdictOf(all),
  );
  const list = element('ol', { className: 'requests' }, ...all.map(row => rowItem(row, { from, to })));
  return { at: start, item: element('li', { className: 'cart' }, title, list) };
}

/** @param {Row[]} rows */
function verdictOf(rows) {
  const runs = rows.filter(hasRun).length;
  if (runs > 1) return element('span', { className: 'verdict bad' }, `Ran ${times(runs)}`);
  return element('span', { className: 'verdict' }, runs === 1 ? 'Ran once' : '');
}

/**
 * @param {Row} row
 * @param {{ from: number, to: number }} axis
 */
function rowItem(row, axis) {
  const { word, text, tone } = outcomeOf(row);
  const words = element('p', {}, element('b', { className: tone }, word), ` ${text}`);
  return element('li', {}, words, barOf(row, axis));
}
