import compression from 'compression';
import type { RequestHandler } from 'express';
import { Keyv } from 'keyv';
import type { IdempotencyOptions } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import { guarded } from '../../support/guarded';
import { visible, visibleReplay } from '../../support/replays';
import { responses } from './responses';

/** What has broken in other libraries, and must hold of a replay: it is the original, byte for byte and line for line. */

const places: [where: string, before: RequestHandler[], options: IdempotencyOptions][] = [
  ['in the default store', [], {}],
  ['in a Keyv', [], { store: new Keyv() }],
  ['behind compression', [compression({ threshold: 100 })], {}],
];

describe.each(expressVersions)('%s', (_version, version) => {
  it.each(responses.map(([title, row]) => ({ title, ...row })))(
    'a replay equals the original byte for byte and header line for header line, and that what it is without us: $title',
    async ({ method = 'POST', headers = {}, handler }) => {
      for (const [, before, options] of places) {
        const { post, runs } = await guarded({ addHeaderToResponse: false, ...options }, handler, { version, before });
        const request = { method, headers: { 'Accept-Encoding': 'gzip', ...headers } };
        const original = visible(await post(request));
        // With a header set before, node 20 takes the lists of `writeHead` apart in another way than without.
        if (before.length === 0) expect(original).toEqual(visible(await post({ ...request, path: '/bare' })));
        for (let turn = 0; turn < 2; turn++) expect(visibleReplay(await post(request))).toEqual(original);
        expect(runs()).toBe(1);
      }
    },
  );

  it('all lines of one name in an array of headers are sent, and replayed, also over headers set before', async () => {
    const lines = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'];
    const { post } = await guarded({}, (_req, res) => res.writeHead(202, lines).end(), { version });
    for (let turn = 0; turn < 2; turn++) expect((await post()).headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it('a replay has the lines of the handler, and those that middleware before us sets for the request at hand', async () => {
    let requests = 0;
    const before: RequestHandler = (_req, res, next) => {
      const request = String(++requests);
      res.set('X-Request-Id', request).append('Set-Cookie', `visit=${request}`).set(`X-Only-${request}`, 'here');
      next();
    };
    const { post } = await guarded({}, (_req, res) => res.append('Set-Cookie', 'a=1').send('x'), {
      version,
      before: [before],
    });
    const original = visible(await post());
    expect(original.lines).toEqual(
      expect.arrayContaining(['X-Request-Id: 1', 'Set-Cookie: visit=1', 'Set-Cookie: a=1', 'X-Only-1: here']),
    );
    const lines = original.lines.map(line => line.replace(/(?<at>X-Request-Id: |visit=|X-Only-)1/, '$<at>2'));
    expect(visibleReplay(await post())).toEqual({ ...original, lines });
  });
});
