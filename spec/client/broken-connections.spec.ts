import { signal } from '../support/signal';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { client, payment, service } from './service';

const throughNetwork = (url: string, { port }: TcpProxy): string => url.replace(/:\d+\//, `:${port}/`);

describe('a payment is made once, and the client learns what came of it, where the connection breaks', () => {
  it('before the request arrives', async () => {
    const { url, port, keys, charges } = await service();
    const network = await TcpProxy.before(port);
    network.cut();
    const pay = client({
      fetch: (...request) =>
        fetch(...request).catch((error: unknown) => {
          network.mend();
          throw error;
        }),
    });
    const { response, replayed, attempts } = await pay(throughNetwork(url, network), payment());
    expect([response.status, await response.json(), replayed]).toEqual([201, { charge: 1 }, false]);
    expect([charges(), keys.length]).toEqual([1, 1]);
    expect(attempts).toBe(2);
    await network.close();
  });

  it('in the middle of the work', async () => {
    const [begun, done] = [signal(), signal()];
    const { url, port, keys, charges } = await service([], {
      work: async () => {
        begun.happens();
        await done.happened;
      },
    });
    const network = await TcpProxy.before(port);
    const paid = client()(throughNetwork(url, network), payment());
    await begun.happened;
    network.cut();
    network.mend();
    setTimeout(() => {
      done.happens();
    }, 50);
    const { response, replayed, key } = await paid;
    expect([response.status, await response.json(), replayed]).toEqual([201, { charge: 1 }, true]);
    expect([charges(), new Set(keys)]).toEqual([1, new Set([key])]);
    await network.close();
  });

  it('after the work, so that the answer is lost', async () => {
    const { url, port, keys, charges } = await service();
    const network = await TcpProxy.before(port);
    const lost = network.loseAfter(0);
    const { response, replayed, attempts } = await client()(throughNetwork(url, network), payment());
    expect(await lost).toContain('{"charge":1}');
    expect([response.status, await response.json(), replayed, attempts]).toEqual([201, { charge: 1 }, true, 2]);
    expect([charges(), keys.length]).toEqual([1, 2]);
    await network.close();
  });

  it('in the middle of the answer', async () => {
    const { url, charges } = await service([
      (_req, res) => {
        res.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': '100' }).write('{"char');
        setTimeout(() => res.destroy(), 20);
      },
    ]);
    const { response, attempts } = await client()(url, payment());
    expect([response.status, await response.json(), attempts, charges()]).toEqual([201, { charge: 1 }, 2, 1]);
  });

  it('never, but no answer comes in time', async () => {
    const { url, keys, charges } = await service([() => undefined]);
    const { response, attempts, key } = await client({ attemptTimeout: 1_000 })(url, payment());
    expect([response.status, charges(), new Set(keys)]).toEqual([201, 1, new Set([key])]);
    expect(attempts).toBeGreaterThan(1);
  });
});
