import compression from 'compression';
import type { RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send, type WireResponse } from '../../support/listen';
import { expressVersions } from '../../support/express-versions';
import { serve } from '../../support/serve';
import { keyed, visible, visibleReplay } from '../../support/replays';
import { responses } from './responses';

/** What has broken in other libraries, and must hold of a replay: it is the original, byte for byte and line for line. */

const places: [where: string, before: RequestHandler[], options: () => IdempotencyOptions][] = [
  ['in the default store', [], () => ({})],
  ['in a Keyv', [], () => ({ store: new Keyv() })],
  ['behind compression', [compression({ threshold: 100 })], () => ({})],
];

describe.each(expressVersions)('%s', (_version, express) => {
  it.each(
    places.flatMap(([where, before, options]) =>
      responses.map(([title, row]) => ({ where, before, options, title, ...row })),
    ),
  )(
    'a replay equals the original byte for byte and header line for header line, and that what it is without us: $title, $where',
    async ({ before, options, method = 'POST', headers = {}, handler }) => {
      let runs = 0;
      const counted: RequestHandler = (req, res, next) => {
        runs++;
        return handler(req, res, next);
      };
      // With a header set before, node 20 takes the lists of `writeHead` apart in another way than without.
      const app = express()
        .disable('x-powered-by')
        .all('/bare', handler)
        .all('/', ...before, idempotency({ addHeaderToResponse: false, ...options() }), counted);
      const { url } = await serve(app);
      const ask = (path: string): Promise<WireResponse> =>
        send(url + path, { method, headers: keyed('k', { 'Accept-Encoding': 'gzip', ...headers }) });
      const original = visible(await ask('/'));
      if (before.length === 0) expect(original).toEqual(visible(await ask('/bare')));
      for (let turn = 0; turn < 2; turn++) expect(visibleReplay(await ask('/'))).toEqual(original);
      expect(runs).toBe(1);
    },
  );

  it('all lines of one name in an array of headers are sent, and replayed, also over headers set before', async () => {
    const { url } = await serve(
      express().post('/', idempotency(), (_req, res) => {
        res.writeHead(202, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end();
      }),
    );
    for (let turn = 0; turn < 2; turn++)
      expect((await send(url, { headers: keyed('k') })).headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it('a replay has the lines of the handler, and those that middleware before us sets for the request at hand', async () => {
    let requests = 0;
    const app = express().use((_req, res, next) => {
      const request = String(++requests);
      res.set('X-Request-Id', request).append('Set-Cookie', `visit=${request}`).set(`X-Only-${request}`, 'here');
      next();
    });
    app.post('/', idempotency(), (_req, res) => void res.append('Set-Cookie', 'a=1').send('x'));
    const { url } = await serve(app);
    const original = visible(await send(url, { headers: keyed('k') }));
    expect(original.lines).toEqual(
      expect.arrayContaining(['X-Request-Id: 1', 'Set-Cookie: visit=1', 'Set-Cookie: a=1', 'X-Only-1: here']),
    );
    const lines = original.lines.map(line => line.replace(/(?<at>X-Request-Id: |visit=|X-Only-)1/, '$<at>2'));
    expect(visibleReplay(await send(url, { headers: keyed('k') }))).toEqual({ ...original, lines });
  });
});
