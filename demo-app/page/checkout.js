import { idempotentFetch } from '/client/client.js';

/** @typedef {import('./unfinished.js').Order} Order */

/**
 * Returns the function that sends an order until it is answered.
 * @param {typeof globalThis.fetch} fetch
 * @returns {(order: Order) => Promise<Response>}
 */
export function checkout(fetch) {
  // A reload continues with the same key. Pauses are short: somebody is watching.
  const send = idempotentFetch({ fetch, maxDelay: 1_000 });

  return async order => {
    const url = `/customers/${encodeURIComponent(order.customer)}/orders`;
    if (!order.isGuarded) return untilAnswered(() => fetch(`/without${url}`, requestFor(order)));
    const { response } = await send(url, { operation: `order of cart ${order.cart}`, ...requestFor(order) });
    return response;
  };
}

/**
 * @param {Order} order
 * @returns {RequestInit}
 */
const requestFor = ({ cart, items }) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Cart': cart },
  body: JSON.stringify({ items }),
});

/**
 * Sends again when the connection fails, as pages without bindonce do: the shop cannot tell a retry from a new order.
 * @param {() => Promise<Response>} send
 */
async function untilAnswered(send) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt === 60) throw error;
      await new Promise(resolve => setTimeout(resolve, 500));
    }
  }
}
