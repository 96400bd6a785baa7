/** The order of ten properties that clients of the scenario `binding` send, and the answer to it. */
import { jsonHeaders } from './load.mjs';

export const route = '/customers/:customerId/orders';
export const currencies = ['EUR', 'USD', 'GBP'];
export const MAX_ITEMS = 10_000;

const items = Array.from({ length: 20 }, (_, index) => ({
  sku: `sku-${index}`,
  quantity: index + 1,
  unitPrice: 4.5 + index,
}));

/** Makes an order that is valid but for the values given; `line` changes the last of its items. */
function requestWith({
  customerId = '0f8fad5b-d9cb-469f-a165-70867728950e',
  query,
  headers = { 'X-Channel': 'web', 'X-Note': 'second floor' },
  body,
  line,
}) {
  const given = {
    currency: 'EUR',
    placedAt: '2026-11-21T08:30:00.000Z',
    gift: false,
    items: items.with(-1, { ...items.at(-1), ...line }),
    ...body,
  };
  return {
    path: `/customers/${customerId}/orders?${new URLSearchParams({ priority: '3', rush: 'true', discount: '0.05', ...query })}`,
    headers: { ...jsonHeaders(), ...headers },
    body: JSON.stringify(given),
  };
}

const { path, headers, body } = requestWith({});
export const validOrder = () => ({ path, headers: { ...headers, ...jsonHeaders() }, body });

export const invalidOrders = {
  'a customer that is not a UUID': requestWith({ customerId: '7' }),
  'a priority of 1.5': requestWith({ query: { priority: '1.5' } }),
  '"perhaps" for rush': requestWith({ query: { rush: 'perhaps' } }),
  'a discount that is not a number': requestWith({ query: { discount: 'much' } }),
  'no X-Channel': requestWith({ headers: {} }),
  'an unknown currency': requestWith({ body: { currency: 'XXX' } }),
  'a time that cannot be read': requestWith({ body: { placedAt: 'yesterday' } }),
  '"yes" for gift': requestWith({ body: { gift: 'yes' } }),
  'no items': requestWith({ body: { items: undefined } }),
  'a number for sku': requestWith({ line: { sku: 7 } }),
  'a quantity of 1.5': requestWith({ line: { quantity: 1.5 } }),
  'text for a price': requestWith({ line: { unitPrice: '4.50' } }),
};

export const answerTo = ({ customerId, currency, items: lines }) => ({ customerId, currency, lines: lines.length });
