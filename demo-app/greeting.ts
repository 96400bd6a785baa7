/** Returns commands to try: the same order twice, a document, the list of orders. */
export function greeting(url: string, storage: string): string {
  const order = '{"items":[{"sku":"tea","quantity":2,"unitPrice":4.50}]}';
  const json = `-H 'Content-Type: application/json' -d '${order}'`;
  return `The shop is open at ${url} (${storage}). Send the same order twice; it is placed once:

  curl -i ${url}/customers/42/orders -H 'Idempotency-Key: order-1' ${json}
  curl -i ${url}/customers/42/documents -H 'Idempotency-Key: document-1' -F title=Invoice -F file=@package.json
  curl ${url}/orders

The shop as a page, where things go wrong: ${url}
The API, to try it in a browser: ${url}/docs
`;
}
