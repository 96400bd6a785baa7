import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expressVersions } from '../support/express-versions';
import { guarded, type Run } from '../support/guarded';
import { keyed } from '../support/replays';
import { signal } from '../support/signal';

const MEGABYTE = Buffer.alloc(1_000_000, 'x');

/** A request whose body is still being sent. */
const upload = (url: string, megabytes: number): ClientRequest =>
  request(url, {
    method: 'POST',
    headers: keyed('k', { 'Content-Length': String(megabytes * 1_000_000) }),
    agent: false,
  });

describe.each(expressVersions)('with ignoreRequestBody on %s', (_version, version) => {
  it('the handler gets the first bytes of an upload before the last are sent', async () => {
    const half = signal();
    const act: Run = async (req, res) => {
      let bytes = 0;
      for await (const chunk of req) if ((bytes += (chunk as Buffer).length) >= 15_000_000) half.happens();
      res.json({ bytes });
    };
    const { url } = await guarded({ ignoreRequestBody: true }, act, { version });
    const sent = upload(url, 30);
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    for (let count = 0; count < 15; count++) sent.write(MEGABYTE);
    await half.happened;
    for (let count = 15; count < 30; count++) sent.write(MEGABYTE);
    sent.end();
    expect(await text((await answered)[0])).toBe('{"bytes":30000000}');
  });

  it('nothing is read for a handler that does not look at the body, which may be over maxRequestBytes', async () => {
    const act: Run = (req, res) => res.json([req.readableDidRead, req.readableFlowing]);
    const { post } = await guarded({ ignoreRequestBody: true, maxRequestBytes: 10 }, act, { version });
    expect((await post({ body: MEGABYTE })).text).toBe('[false,null]');
  });

  it('a duplicate with another body is replayed while it is still being sent', async () => {
    const act: Run = (req, res) => req.resume().on('end', () => res.send('done'));
    const { url, post, runs } = await guarded({ ignoreRequestBody: true }, act, { version });
    await post({ body: 'one' });
    const sent = upload(url, 2).on('error', () => undefined);
    sent.write(MEGABYTE);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.headers['idempotent-replayed'], runs()]).toEqual(['true', 1]);
    sent.destroy();
  });
});
