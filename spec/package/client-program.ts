import { idempotentFetch, IdempotentFetchError, type IdempotentResult, type KeyStorage } from 'bindonce/client';

/** A program that uses every public name of the client; compiled by exports.spec.ts for browsers and for Node. */
export async function pay(storage: KeyStorage, signal: AbortSignal): Promise<number> {
  const send = idempotentFetch({ storage, deadline: 10_000, fetch });
  try {
    const url = new URL('https://shop.example/payments');
    const { response, replayed, attempts }: IdempotentResult = await send(url, {
      method: 'POST',
      body: 'x',
      operation: 'pay',
      signal,
    });
    return response.ok && !replayed ? attempts : 0;
  } catch (error) {
    if (!(error instanceof IdempotentFetchError)) throw error;
    await send.forget('pay');
    return error.code === 'gave-up' ? (error.response?.status ?? error.attempts) : 0;
  }
}
