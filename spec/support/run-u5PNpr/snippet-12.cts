import { idempotentFetch } from 'bindonce/client';

const send = idempotentFetch();

export async function pay(cart: { id: string; total: string }) {
  const { response, replayed } = await send('/payments', {
    operation: `pay cart ${cart.id}`,
    method: 'POST',
    body: JSON.stringify(cart),
  });
  return { status: response.status, replayed };
}
