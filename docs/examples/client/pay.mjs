// Sends one payment until its outcome is known, also over crashes and new starts. A start after the outcome is a new
// payment: mark the invoice as paid then. Needs: npm install bindonce
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { idempotentFetch } from 'bindonce/client';

const [url, invoice, amount] = process.argv.slice(2);

/** A file for each payment whose outcome is unknown. It outlives a crash, so that the next start sends the same key. */
const fileOf = name => join(process.env.KEYS ?? '.', `${encodeURIComponent(name)}.json`);
const storage = {
  getItem: name =>
    readFile(fileOf(name), 'utf8').catch(error => (error.code === 'ENOENT' ? null : Promise.reject(error))),
  setItem: (name, value) => writeFile(fileOf(name), value),
  removeItem: name => rm(fileOf(name)),
};

const send = idempotentFetch({ storage });

try {
  const { response, replayed } = await send(url, {
    operation: `pay ${invoice}`,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ invoice, amount }),
  });
  console.log(response.status, await response.text(), replayed ? '(replayed)' : '');
  // The server or a gateway has failed. If the answer is a replay, it is the outcome; otherwise the key is kept, and the
  // next start asks for the outcome.
  if (response.status >= 500) process.exitCode = 1;
} catch (error) {
  // Nobody knows yet whether it was paid. Start again later: the key is kept.
  console.error(error.message);
  process.exitCode = 1;
}
