import { once } from 'node:events';
import type { Response } from 'express';
import { idempotency } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { HookedLeases } from '../../support/hooked-leases';
import { RawClient } from '../../support/raw-client';
import { serve } from '../../support/serve';
import { signal } from '../../support/signal';

/** What must hold of a response on its way: what is written goes out, and its end waits until a retry would get it. */

const requestTo = (port: number, connection = 'close'): string =>
  `POST / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nIdempotency-Key: k\r\nConnection: ${connection}\r\nContent-Length: 0\r\n\r\n`;

describe.each(expressVersions)('%s', (_version, express) => {
  const held = async (handler: (res: Response) => unknown) => {
    const [completing, mayComplete] = [signal(), signal()];
    const leases = new HookedLeases({
      complete: () => {
        completing.happens();
        return mayComplete.happened;
      },
    });
    let response: Response | undefined;
    const app = express().post('/', idempotency({ leases }), (_req, res) => {
      response = res;
      return handler(res);
    });
    const { port } = await serve(app);
    const client = new RawClient(port);
    await client.send(requestTo(port));
    return { client, completing, mayComplete, seen: () => response };
  };

  it('the head that a handler flushes, and what it writes then, are with the client before it goes on', async () => {
    const steps = [signal(), signal()] as const;
    const { client, completing, mayComplete } = await held(async res => {
      res.set('X-Step', 'one').flushHeaders();
      await steps[0].happened;
      res.write('piece ');
      await steps[1].happened;
      res.end('end');
    });
    const until = async (text: string): Promise<void> => {
      while (!client.text.includes(text)) await once(client.socket, 'data');
    };
    await until('X-Step: one\r\n');
    steps[0].happens();
    await until('piece ');
    steps[1].happens();
    await completing.happened;
    mayComplete.happens();
    await until('end');
  });

  it.each<[string, (res: Response) => unknown, begun: string]>([
    ['json', res => res.status(201).json({ a: 1 }), ''],
    ['204', res => res.sendStatus(204), ''],
    [
      'write and end',
      res => {
        res.write('half, ');
        res.end('whole');
      },
      'half, ',
    ],
  ])(
    'after %s, `headersSent` is true while the end is held back, and the client has not seen the end',
    async (_how, end, begun) => {
      const { client, completing, mayComplete, seen } = await held(end);
      await completing.happened;
      if (begun !== '') while (!client.text.includes(begun)) await once(client.socket, 'data');
      expect([seen()?.headersSent, seen()?.writableFinished]).toEqual([true, false]);
      expect(() => seen()?.json({})).toThrow(expect.objectContaining({ code: 'ERR_HTTP_HEADERS_SENT' }));
      // What was sent before would be here by then.
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      if (begun === '') expect(client.text).toBe('');
      else expect(client.text.endsWith(`${begun}\r\n`)).toBe(true);
      mayComplete.happens();
      await client.closed();
      expect(client.text).toMatch(/^HTTP\/1\.1 20[014] [^]*(\{"a":1\}|\r\n\r\n|whole\r\n0\r\n\r\n)$/);
    },
  );

  it('a replay has the date of its own exchange, and keeps its connection as its own client asks', async () => {
    const app = express().post(
      '/',
      idempotency(),
      (_req, res) =>
        void res
          .set({ Date: 'Sat, 01 Jan 2000 00:00:00 GMT', Connection: 'close', 'Keep-Alive': 'timeout=7' })
          .send('x'),
    );
    const { port } = await serve(app);
    const [first, second] = [new RawClient(port), new RawClient(port)];
    await first.send(requestTo(port));
    await first.closed();
    expect(first.text).toContain('01 Jan 2000');
    await second.send(requestTo(port, 'keep-alive'));
    while (!second.text.endsWith('x')) await once(second.socket, 'data');
    expect(second.text).toContain('Idempotent-Replayed: true');
    expect(second.text).not.toMatch(/01 Jan 2000|Connection: close|timeout=7\r/);
    second.leave();
  });
});
