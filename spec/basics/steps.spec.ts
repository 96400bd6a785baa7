import { request } from 'node:http';
import { idempotency } from '../../lib';
import { send } from '../support/listen';
import { expressVersions } from '../support/express-versions';
import { keyed } from '../support/replays';
import { serve } from '../support/serve';
import { signal } from '../support/signal';

/** More than is kept in memory, and than is sent at once. */
const LONG = 2_000_000;

describe.each(expressVersions)('while all timers and steps are faked, on %s', (_version, express) => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const echo = async () => {
    const app = express().post('/', idempotency(), express.text({ limit: LONG }), (req, res) => {
      res.write('got ', () => res.end(req.body));
    });
    return serve(app);
  };

  it.each([
    ['a short body', 'x'],
    ['a long body, and a long response', 'x'.repeat(LONG)],
  ])('%s: the first request and its duplicate are answered', async (_what, body) => {
    const { url } = await echo();
    const headers = keyed('k', { 'Content-Type': 'text/plain' });
    for (const replayed of [undefined, 'true']) {
      const response = await send(url, { headers, body });
      expect(response.text === `got ${body}`).toBe(true);
      expect(response.headers['idempotent-replayed']).toBe(replayed);
    }
  });

  it('a handler goes on to write for a client that is gone', async () => {
    const begun = signal();
    const left = signal();
    const recorded = signal();
    const app = express().post('/', idempotency({ onEvent: () => recorded.happens() }), (_req, res) => {
      begun.happens();
      void left.happened.then(() => res.write('one', () => res.end('two')));
    });
    const { url, server } = await serve(app);
    server.on('connection', socket => {
      socket.on('close', left.happens);
    });
    const client = request(url, { method: 'POST', headers: keyed('gone'), agent: false }).on('error', () => undefined);
    client.end('x');
    await begun.happened;
    client.destroy();
    await recorded.happened;
    expect((await send(url, { headers: keyed('gone'), body: 'x' })).text).toBe('onetwo');
  });
});
