// Sends one payment until its outcome is known, also over crashes and new starts. If it exits with 0, the invoice is
// paid: mark it then, because the next start is a new payment. Needs: npm install bindonce
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { idempotentFetch } from 'bindonce/client';

const [url, invoice, amount] = process.argv.slice(2);

/** A file for each payment whose outcome is unknown. It outlives a crash, so that the next start sends the same key. */
const fileOf = name => join(process.env.KEYS ?? '.', `${encodeURIComponent(name)}.json`);
const storage = {
  async claim(name, entry) {
    const [file, temporary] = [fileOf(name), `${fileOf(name)}.${process.pid}`];
    try {
      await writeFile(temporary, JSON.stringify(entry), { flush: true });
      // In one step, and only if there is no such file: whatever interrupts it, no one reads half of it.
      await link(temporary, file);
      return entry;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const found = JSON.parse(await readFile(file, 'utf8'));
      if (found.until > Date.now()) return found;
      await rm(file);
      return await storage.claim(name, entry);
    } finally {
      await rm(temporary, { force: true });
    }
  },
  async remove(name, key, ifAlone) {
    // Another process may have got the key, which this one cannot tell.
    if (!ifAlone && JSON.parse(await readFile(fileOf(name), 'utf8')).key === key) await rm(fileOf(name));
  },
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
  // Nothing says that it is paid. If it may be, after a 500 that is not a replay for example, the key is kept, and the
  // next start asks for the outcome.
  if (!response.ok) process.exitCode = 1;
} catch (error) {
  // Nobody knows yet whether it was paid. Start again later: the key is kept.
  console.error(error.message);
  process.exitCode = 1;
}
