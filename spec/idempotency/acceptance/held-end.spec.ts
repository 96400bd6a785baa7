import type { RequestHandler, Response } from 'express';
import { expressVersions } from '../../support/express-versions';
import { guarded } from '../../support/guarded';
import { heldLeases } from '../../support/hooked-leases';
import { RawClient, requestTo } from '../../support/raw-client';
import { signal } from '../../support/signal';

/** What must hold of a response on its way: what is written goes out, and its end waits until a retry would get it. */

const closing = ['Idempotency-Key: k', 'Connection: close'];

describe.each(expressVersions)('%s', (_version, version) => {
  const held = async (handler: (res: Response) => unknown, before: RequestHandler[] = []) => {
    const { leases, asked, goOn } = heldLeases('complete');
    const seen: Response[] = [];
    const act = (_req: unknown, res: Response): unknown => handler((seen.push(res), res));
    return { ...(await guarded({ leases }, act, { version, before })), asked, goOn, seen };
  };

  it('the head that a handler flushes, and what it writes then, are with the client before it goes on', async () => {
    const steps = [signal(), signal()] as const;
    const { port, asked, goOn } = await held(async res => {
      res.set('X-Step', 'one').flushHeaders();
      await steps[0].happened;
      res.write('piece ');
      await steps[1].happened;
      res.end('end');
    });
    const client = RawClient.asks(port, '/', closing);
    await client.until(/X-Step: one\r\n/);
    steps[0].happens();
    await client.until(/piece /);
    steps[1].happens();
    await asked;
    goOn();
    await client.until(/end/);
  });

  it.each<[string, (res: Response) => unknown, begun: RegExp, whole: RegExp]>([
    ['json', res => res.status(201).json({ a: 1 }), /^$/, /^HTTP\/1\.1 201 [^]*\{"a":1\}$/],
    ['204', res => res.sendStatus(204), /^$/, /^HTTP\/1\.1 204 [^]*\r\n\r\n$/],
    ['write and end', res => res.write('half, ') && res.end('whole'), /half, \r\n$/, /whole\r\n0\r\n\r\n$/],
  ])(
    'after %s, `headersSent` is true while the end is held back, and the client has not seen the end',
    async (_how, end, begun, whole) => {
      const { port, asked, goOn, seen } = await held(end);
      const client = RawClient.asks(port, '/', closing);
      await asked;
      await client.until(begun);
      expect([seen[0]?.headersSent, seen[0]?.writableFinished]).toEqual([true, false]);
      expect(() => seen[0]?.json({})).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }));
      // What was sent before would be here by then.
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      expect(client.text).toMatch(begun);
      goOn();
      expect(await client.closed()).toMatch(whole);
    },
  );

  it('a held response that comes second on its connection is sent before a server that closes', async () => {
    const firstMayEnd = signal();
    const first: RequestHandler = (req, res, next) => {
      if (req.path === '/first') void firstMayEnd.happened.then(() => res.end('first'));
      else next();
    };
    const { port, server, asked, goOn } = await held(res => res.end('second'), [first]);
    const client = RawClient.asks(port, '/first');
    await client.send(requestTo(port));
    await asked;
    firstMayEnd.happens();
    await client.until(/first/);
    server.close();
    setImmediate(goOn);
    await client.until(/second/);
    client.leave();
  });

  it('a replay has the date of its own exchange, and keeps its connection as its own client asks', async () => {
    const ofTheExchange = { Date: 'Sat, 01 Jan 2000 00:00:00 GMT', Connection: 'close', 'Keep-Alive': 'timeout=7' };
    const { port } = await guarded({}, (_req, res) => res.set(ofTheExchange).send('x'), { version });
    expect(await RawClient.asks(port, '/', closing).closed()).toContain('01 Jan 2000');
    const second = RawClient.asks(port);
    await second.until(/x$/);
    expect(second.text).toContain('Idempotent-Replayed: true');
    expect(second.text).not.toMatch(/01 Jan 2000|Connection: close|timeout=7\r/);
    second.leave();
  });
});
