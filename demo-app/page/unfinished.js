/**
 * An order that the customer has begun: it is sent until there is an answer, also after a reload.
 * @typedef {object} Order
 * @property {string} cart two orders of one cart were meant to be one
 * @property {string} customer
 * @property {{ sku: string, quantity: number, unitPrice: number }[]} items
 * @property {boolean} isGuarded false if bindonce is switched off
 */

/** @param {string} customer */
const nameFor = customer => `demo-shop:unfinished:${customer}`;

/** @param {Order} order */
export function keep(order) {
  localStorage.setItem(nameFor(order.customer), JSON.stringify(order));
}

/**
 * @param {string} customer
 * @returns {Order | undefined}
 */
export function unfinishedOf(customer) {
  return JSON.parse(localStorage.getItem(nameFor(customer)) ?? 'null') ?? undefined;
}

/**
 * Forgets an order that was answered. The customer may have begun another one meanwhile.
 * @param {Order} order
 */
export function forget(order) {
  if (unfinishedOf(order.customer)?.cart === order.cart) localStorage.removeItem(nameFor(order.customer));
}
