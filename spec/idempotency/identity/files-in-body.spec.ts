import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { idempotency } from '../../../lib';
import { foreignParser, foreignParsers, union } from '../../support/foreign-files';
import { send } from '../../support/listen';
import { multipart, type Part } from '../../support/multipart';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';
import { TemporaryDirectory } from '../../support/temporary-directory';

const directory = new TemporaryDirectory();

afterAll(() => {
  directory.remove();
});

/** Sends forms with one key. @returns the run that answered each. */
async function runs(parser: readonly RequestHandler[], ...forms: readonly (readonly Part[])[]): Promise<unknown[]> {
  let run = 0;
  const app = express().post('/', ...parser, idempotency({ store: new Keyv() }), (_req, res) => {
    res.json(++run);
  });
  const { url } = await serve(app.set('env', 'test'));
  const answers: unknown[] = [];
  for (const parts of forms) {
    const { body, headers } = multipart(parts, 'b1');
    const { status, body: text } = await send(url, { headers: keyed('k', headers), body });
    answers.push(status === 200 ? JSON.parse(text.toString()) : status);
  }
  return answers;
}

const amount: Part = { name: 'amount', value: '10' };
const scan = (filename: string, value = 'abc', name = 'scan'): Part => ({ name, filename, value, type: 'image/png' });

/** Leaves what it makes of the file objects `a` and `b`, as new ones for each request. */
function leaving(...make: readonly ((a: object, b: object) => { files: unknown; body?: unknown })[]) {
  let next = 0;
  const parser: RequestHandler = (req, _res, done) => {
    const [a, b] = ['a.png', 'b.png'].map(originalFilename => ({
      originalFilename,
      size: 3,
      filepath: `/uploads/${Math.random()}`,
    })) as [object, object];
    req.resume().on('end', () => {
      Object.assign(req, { body: {} }, make[next++]?.(a, b));
      done();
    });
  };
  return runs([parser], ...make.map(() => [amount]));
}

describe.each(foreignParsers)('files that $title has left', parser => {
  const reader = foreignParser(parser, directory.path);

  it('and put into the body are one request for each attempt, and others are another', async () => {
    const forms = [scan('a.png'), scan('a.png'), scan('b.png'), scan('a.png', 'abcd'), scan('a.png', 'abc', 'photo')];
    expect(await runs([reader, union], ...forms.map(one => [amount, one]))).toEqual([1, 1, 2, 3, 4]);
    const other: Part = { ...amount, value: '11' };
    expect(await runs([reader, union], [amount, scan('a.png')], [other, scan('a.png')])).toEqual([1, 2]);
  });

  it('as files of JSON are another request when their content is another', async () => {
    const order = (value: string): Part => ({ name: 'order', filename: 'blob', value, type: 'application/json' });
    for (const middlewares of [[reader], [reader, union]])
      expect(await runs(middlewares, [order('{"n":1}')], [order('{"n":1}')], [order('{"n":2}')])).toEqual([1, 1, 2]);
  });

  it.each<[string, readonly RequestHandler[]]>([
    ['in req.files', [reader]],
    ['in the body, too,', [reader, union]],
  ])('%s are one request in any order', async (_where, middlewares) => {
    const [a, b, photo] = [scan('a.png'), scan('b.png', 'abcd'), scan('c.png', 'abc', 'photo')];
    expect(await runs(middlewares, [amount, a, b, photo], [amount, photo, b, a], [amount, a, a, photo])).toEqual([
      1, 1, 2,
    ]);
    // Two fields of one list, which the parser has stored in another order.
    const [first, second] = [scan('a.png', 'abc', 'scan[0]'), scan('b.png', 'abc', 'scan[1]')];
    expect(await runs(middlewares, [amount, first, second], [amount, second, first])).toEqual([1, 1]);
  });
});

it('where the body has a file is compared', async () => {
  expect(
    await leaving(
      (a, b) => ({ files: { scan: [a, b] }, body: { front: a, back: b } }),
      (a, b) => ({ files: { scan: [b, a] }, body: { back: b, front: a } }),
      (a, b) => ({ files: { scan: [a, b] }, body: { front: b, back: a } }),
      (a, b) => ({ files: { scan: [a, b] }, body: { front: [a], back: [b] } }),
    ),
  ).toEqual([1, 1, 2, 3]);
});

it('the order of the fields beside files is compared: names in two cases are one list', async () => {
  expect(
    await leaving(
      a => ({ files: { scan: [a] }, body: { tag: 'x', scan: a, Tag: 'y' } }),
      a => ({ files: { scan: [a] }, body: { tag: 'x', Tag: 'y', scan: a } }),
      a => ({ files: { scan: [a] }, body: { Tag: 'y', tag: 'x', scan: a } }),
    ),
  ).toEqual([1, 1, 2]);
});

it("the order of multer's files is compared", async () => {
  const files = (...names: string[]) => ({
    files: names.map(originalname => ({ fieldname: 'scan', originalname, size: 3, mimetype: 'image/png' })),
  });
  expect(
    await leaving(
      () => files('a', 'b'),
      () => files('b', 'a'),
    ),
  ).toEqual([1, 2]);
});
