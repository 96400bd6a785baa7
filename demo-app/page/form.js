import { byId, element } from './element.js';
import { capitalised, money } from './words.js';

/** @typedef {import('./unfinished.js').Order} Order */

const PRODUCTS = [
  { sku: 'tea', unitPrice: 4.5, quantity: 2 },
  { sku: 'coffee', unitPrice: 6.2, quantity: 1 },
];

const NOTES = {
  with: 'Each order has an idempotency key, which the page sends again with each retry.',
  without: 'The same clicks and the same handler, but no key, and no idempotency() on the server.',
};

/** The form of an order. Its button stays enabled, so that it can be clicked twice. */
export class OrderForm {
  #customer;
  #form = /** @type {HTMLFormElement} */ (byId('form'));
  #products = /** @type {HTMLFieldSetElement} */ (byId('products'));
  #mode = /** @type {HTMLFieldSetElement} */ (byId('mode'));
  #lines = PRODUCTS.map(({ sku, unitPrice, quantity }) => {
    const value = String(quantity);
    const input = element('input', { type: 'number', name: sku, min: '0', max: '99', required: true, value });
    return { sku, unitPrice, input };
  });

  /**
   * @param {string} customer
   * @param {() => void} onSubmit
   */
  constructor(customer, onSubmit) {
    this.#customer = customer;
    byId('customer').textContent = capitalised(customer);
    for (const { sku, unitPrice, input } of this.#lines)
      this.#products.append(element('label', {}, element('span', {}, capitalised(sku)), money(unitPrice), input));
    this.#form.addEventListener('input', () => this.#refresh());
    this.#form.addEventListener('submit', event => {
      event.preventDefault();
      onSubmit();
    });
    this.#refresh();
  }

  /**
   * Makes the order of a new cart.
   * @returns {Order | undefined} undefined if the form is not filled in
   */
  newOrder() {
    if (!this.#form.reportValidity()) return undefined;
    const items = this.#lines
      .map(({ sku, unitPrice, input }) => ({ sku, unitPrice, quantity: input.valueAsNumber }))
      .filter(({ quantity }) => quantity > 0);
    return { cart: crypto.randomUUID(), customer: this.#customer, items, isGuarded: this.#isGuarded() };
  }

  /**
   * Shows an order that is under way: it cannot be changed, only sent again.
   * @param {Order} order
   */
  lock({ items, isGuarded }) {
    for (const { sku, input } of this.#lines) input.value = String(items.find(item => item.sku === sku)?.quantity ?? 0);
    for (const radio of this.#radios()) radio.checked = (radio.value === 'with') === isGuarded;
    this.#disable(true);
    this.#refresh();
  }

  /** Lets the customer fill in the next order. */
  unlock() {
    this.#disable(false);
  }

  /** @param {boolean} isDisabled */
  #disable(isDisabled) {
    this.#products.disabled = isDisabled;
    this.#mode.disabled = isDisabled;
  }

  #radios() {
    return /** @type {NodeListOf<HTMLInputElement>} */ (this.#mode.querySelectorAll('input'));
  }

  #isGuarded() {
    return [...this.#radios()].some(({ checked, value }) => checked && value === 'with');
  }

  #refresh() {
    this.#lines[0]?.input.setCustomValidity('');
    const isValid = this.#lines.every(({ input }) => input.validity.valid);
    const total = this.#lines.reduce((sum, { unitPrice, input }) => sum + unitPrice * (input.valueAsNumber || 0), 0);
    // A click on the button says what is wrong with a quantity.
    byId('place').textContent = isValid ? `Place order, ${money(total)}` : 'Place order';
    byId('mode-note').textContent = NOTES[this.#isGuarded() ? 'with' : 'without'];
    // One product at least: the shop has no order of nothing.
    this.#lines[0]?.input.setCustomValidity(total === 0 ? 'Choose at least one product.' : '');
  }
}
