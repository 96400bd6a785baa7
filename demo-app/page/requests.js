import { isDead } from './outcome.js';

/**
 * @typedef {import('../messages').ShopEvent} ShopEvent
 * @typedef {import('../messages').ProcessEvent} ProcessEvent
 * @typedef {import('../messages').RequestEvent} RequestEvent
 */

/**
 * A request, as this page and as the shop saw it.
 * @typedef {object} Row
 * @property {number} start when this page sent it or, for a request of another client, when the shop received it
 * @property {'sent' | 'answered' | 'lost' | 'not-sent'} [page] undefined for a request of another client
 * @property {number} [end] when this page got the answer, or lost the connection
 * @property {number} tries how often it could not be sent
 * @property {RequestEvent} [event] the latest news from the shop
 * @property {{ process: number, at: number }} [killed] the process that was killed while it took the payment
 */

/**
 * The requests of one cart: what a customer meant to order once.
 * @typedef {object} Cart
 * @property {string} path
 * @property {string} key empty without bindonce
 * @property {number} start
 * @property {Map<string, Row>} rows by request
 */

/** @typedef {{ cart: string, path: string, key?: string }} Sent */

/** All requests that are known: from this page, and from the events of the shop. An event may come a second time. */
export class Requests {
  /** @type {Map<string, Cart>} */
  carts = new Map();
  /** Starts and ends of processes, each once. @type {Map<string, ProcessEvent>} */
  processes = new Map();
  #onChange;

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
  }

  /**
   * @param {string} request
   * @param {Sent} sent
   */
  sent(request, sent) {
    this.#row(request, sent).page = 'sent';
    this.#onChange();
  }

  /**
   * Notes an attempt while the page was offline. One row counts them.
   * @param {Sent} sent
   */
  notSent(sent) {
    const row = this.#row(`${sent.cart} while offline`, sent);
    Object.assign(row, { page: 'not-sent', tries: row.tries + 1, end: Date.now() });
    this.#onChange();
  }

  /**
   * @param {string} request
   * @param {'answered' | 'lost'} page
   */
  ended(request, page) {
    for (const { rows } of this.carts.values()) {
      const row = rows.get(request);
      if (row) Object.assign(row, { page, end: Date.now() });
    }
    this.#onChange();
  }

  /**
   * Returns how many requests this page has sent for a cart, those included that the browser has sent again by itself.
   * @param {string} cart
   */
  countOf(cart) {
    const rows = [...(this.carts.get(cart)?.rows.values() ?? [])];
    const sent = rows.filter(({ page }) => page !== 'not-sent');
    return sent.length + sent.filter(row => row.killed && !isDead(row)).length;
  }

  /** @param {ShopEvent} event */
  happened(event) {
    if (!('request' in event)) this.#process(event);
    else {
      const { request, cart, path, key = '', at, durationMs = 0 } = event;
      this.#row(request, { cart: cart || (key && `${path} ${key}`) || request, path, key }, at - durationMs).event =
        event;
    }
    this.#onChange();
  }

  /**
   * Returns the row of a request. New ones are made.
   * @param {string} request
   * @param {Sent} sent
   */
  #row(request, { cart: id, path, key = '' }, start = Date.now()) {
    const cart = this.carts.get(id) ?? { path, key, start, rows: new Map() };
    this.carts.set(id, cart);
    cart.key ||= key;
    /** @type {Row} */
    const row = cart.rows.get(request) ?? { start, tries: 0 };
    cart.rows.set(request, row);
    return row;
  }

  /** @param {ProcessEvent} event */
  #process(event) {
    const { kind, process, at } = event;
    this.processes.set(`${kind} ${process}`, event);
    if (kind === 'process-started') return;
    for (const { rows } of this.carts.values())
      for (const row of rows.values())
        if (row.event?.kind === 'paying' && row.event.process === process) row.killed = { process, at };
  }
}
