import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { idempotency } from '../../lib';
import { send } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { serve } from '../support/serve';
import { signal } from '../support/signal';
import { keyed } from '../support/replays';

const MEGABYTE = Buffer.alloc(1_000_000, 'x');
const headers = keyed('k', { 'Content-Type': 'application/octet-stream' });

describe.each(expressVersions)('with ignoreRequestBody on %s', (_version, express) => {
  const options = { ignoreRequestBody: true };

  it('the handler gets the first bytes of an upload before the last are sent', async () => {
    const half = signal();
    const app = express().post('/', idempotency(options), (req, res) => {
      let bytes = 0;
      req
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes >= 15_000_000) half.happens();
        })
        .on('end', () => void res.json({ bytes }));
    });
    const { url } = await serve(app);
    const upload = request(url, { method: 'POST', headers, agent: false });
    const answered = once(upload, 'response');
    for (let sent = 0; sent < 15; sent++) upload.write(MEGABYTE);
    await half.happened;
    for (let sent = 15; sent < 30; sent++) upload.write(MEGABYTE);
    upload.end();
    const [response] = (await answered) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(text).toBe('{"bytes":30000000}');
  });

  it('nothing is read for a handler that does not look at the body, and the body may be over maxRequestBytes', async () => {
    const seen: boolean[] = [];
    const app = express().post('/', idempotency({ ...options, maxRequestBytes: 10 }), (req, res) => {
      seen.push(req.readableDidRead, req.readableFlowing !== null);
      res.end();
    });
    const { url } = await serve(app);
    expect((await send(url, { headers, body: MEGABYTE })).status).toBe(200);
    expect(seen).toEqual([false, false]);
  });

  it('a duplicate with another body is replayed while it is still being sent', async () => {
    let runs = 0;
    const { url } = await serve(
      express().post('/', idempotency(options), (req, res) => {
        runs++;
        req.resume().on('end', () => res.send('done'));
      }),
    );
    await send(url, { headers, body: 'one' });
    const upload = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': '2000000' },
      agent: false,
    }).on('error', () => undefined);
    upload.write(MEGABYTE);
    const [response] = (await once(upload, 'response')) as [IncomingMessage];
    expect(response.headers['idempotent-replayed']).toBe('true');
    upload.destroy();
    expect(runs).toBe(1);
  });
});
