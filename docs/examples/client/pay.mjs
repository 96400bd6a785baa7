// node pay.mjs http://localhost:3000/payments tea 4.50
import { fetchWithRetries } from './fetch-with-retries.mjs';

const [url, invoice, amount] = process.argv.slice(2);

const response = await fetchWithRetries(url, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ invoice, amount }),
});
console.log(response.status, await response.text());
