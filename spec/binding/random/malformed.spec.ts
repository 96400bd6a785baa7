import BigNumber from 'bignumber.js';
import express, { type Request, type Response } from 'express';
import fc from 'fast-check';
import { bindRequest, Version } from '../../../lib';
import { listen, send, type Listening, type WireResponse } from '../../support/listen';
import { toWire, type Sent } from '../../support/ask';
import { urlEncoded } from '../../support/one-endpoint';
import { hostileRequests } from './hostile-requests';
import { declared, endpoints, undeclared, type Shape } from './open-dtos';

let server: Listening;
/** What the handler saw, and what it may see. */
let seen: [dto: unknown, shape: Shape][];

beforeAll(async () => {
  const app = express();
  app.use('/parsed', express.json({ strict: false }), express.urlencoded({ extended: true }));
  for (const [path, Dto, shape] of endpoints) {
    app.all(path, bindRequest(Dto, urlEncoded), (req: Request, res: Response) => {
      seen.push([req.dto, shape]);
      res.json(null);
    });
  }
  server = await listen(app);
});

afterAll(() => server.close());

/** The request that is under way. */
let current: Promise<unknown> = Promise.resolve();
// fast-check does not wait for the run that its time limit interrupts; the next spec must not see its request.
afterEach(() => current.catch(() => undefined));

function respond(sent: Sent): Promise<WireResponse> {
  seen = [];
  const response = toWire(sent).then(wire => send(server.url + (sent.path ?? '/'), wire));
  current = response;
  return response;
}

/**
 * Tells that `express.urlencoded()` has kept nothing of a form, because all of its names are those of prototypes. It
 * leaves `{}`, as the parsers of Express 4 do for bodies that they do not read, so bindonce refuses to guess.
 */
function isEmptiedForm(path: string | undefined, text: string): boolean {
  return path?.startsWith('/parsed') === true && text.includes('neither req.body nor req.rawBody tells');
}

const known = [
  ...[Object, Array, Function, String, Number, Promise, Map, Date, Buffer, BigNumber, Version],
  ...endpoints.flatMap(([, Dto]) => (typeof Dto === 'function' ? [Dto] : [])),
];
const keysOfPrototypes = (): unknown =>
  known.map(one => [Reflect.ownKeys(one), Reflect.ownKeys(one.prototype as object)]);
const before = keysOfPrototypes();

/** A request that is never answered is a failure, too; and a counterexample gets smaller for some seconds only. */
const BOUNDS = { timeout: 10_000, interruptAfterTimeLimit: 20_000 };

it('no request, however malformed, is a server error, changes a prototype or brings more than is declared', async () => {
  await fc.assert(
    fc.asyncProperty(hostileRequests(declared), async sent => {
      const { status, text } = await respond(sent);
      expect(status < 500 || isEmptiedForm(sent.path, text) ? '' : text).toBe('');
      expect(seen.flatMap(([dto, shape]) => undeclared(dto, shape))).toEqual([]);
      expect(keysOfPrototypes()).toEqual(before);
      expect('polluted' in {}).toBe(false);
    }),
    { numRuns: 500, ...BOUNDS },
  );
});

it('no bytes at all, in chunks, are answered behind a body parser', async () => {
  const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  expect((await respond({ path: '/parsed', headers, body: '' })).status).toBe(200);
});
