// A server in a process of its own that takes long bodies, gives long answers, and says how much memory it has. It imports the
// built package by name, on the version of Express that EXPRESS names; OPTIONS (JSON) are options of idempotency().
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { idempotency } from 'bindonce';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const { default: express } = await import(process.env.EXPRESS ?? 'express');
const guard = idempotency(JSON.parse(process.env.OPTIONS ?? '{}'));

const app = express();
app.post('/upload', guard, async (req, res) => {
  let bytes = 0;
  let most = 0;
  for await (const chunk of req) {
    bytes += chunk.length;
    most = Math.max(most, process.memoryUsage.rss());
  }
  res.json({ bytes, most });
});
app.post('/download', guard, (_req, res) => {
  res.send(Buffer.alloc(1_000_000, 'x'));
});
app.get('/memory', (_req, res) => {
  collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  res.json({ rss, used: heapUsed + external });
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
