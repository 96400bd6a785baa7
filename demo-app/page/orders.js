import { element } from './element.js';
import { money, nameOf, short, times } from './words.js';

/** @typedef {{ orderId: string, customerId: string, items: { sku: string, quantity: number }[], total: string, cart?: string }} PlacedOrder */

const MOST_ORDERS = 5;

/** The orders that the shop has really placed. */
export class Orders {
  /** @type {PlacedOrder[]} */
  #all = [];
  #list;
  #total;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} total
   */
  constructor(list, total) {
    this.#list = list;
    this.#total = total;
  }

  /** Asks the shop for its orders. If it does not answer, the list stays as it is. */
  async load() {
    const response = await fetch('/orders').catch(() => undefined);
    if (!response?.ok) return;
    this.#all = (await response.json()).orders;
    this.#show();
  }

  /**
   * Returns how many orders were placed for a cart. One was meant.
   * @param {string | undefined} cart
   */
  countOf(cart) {
    return this.#all.filter(order => order.cart === cart).length;
  }

  #show() {
    const sum = this.#all.reduce((total, order) => total + Number(order.total), 0);
    this.#total.textContent = `${this.#all.length} ${this.#all.length === 1 ? 'order' : 'orders'}, ${money(sum)} charged`;
    const latest = this.#all.slice(-MOST_ORDERS).reverse();
    this.#list.replaceChildren(...latest.map(order => this.#item(order)));
    const earlier = this.#all.length - latest.length;
    const rest = latest.length === 0 ? 'None yet.' : earlier > 0 ? `And ${earlier} before.` : '';
    if (rest) this.#list.append(element('li', { className: 'rest' }, rest));
  }

  /** @param {PlacedOrder} order */
  #item({ orderId, customerId, items, total, cart }) {
    const count = cart === undefined ? 1 : this.countOf(cart);
    const what = items.map(({ sku, quantity }) => `${quantity} × ${sku}`).join(', ');
    const mark = count > 1 ? element('span', { className: 'verdict bad' }, `Charged ${times(count)}`) : '';
    const name = element('strong', {}, nameOf(customerId));
    const words = element(
      'p',
      {},
      name,
      element('span', {}, what),
      element('small', {}, `order ${short(orderId)}`),
      mark,
    );
    return element('li', {}, words, element('span', { className: 'sum' }, money(Number(total))));
  }
}
