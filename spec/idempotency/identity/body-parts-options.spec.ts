import { gzipSync } from 'node:zlib';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import multer from 'multer';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send } from '../../support/listen';
import { multipart, type Part } from '../../support/multipart';
import { keyed } from '../../support/replays';
import { serve } from '../../support/serve';

type Sent = readonly [type: string, body: string | Buffer, headers?: Record<string, string>];

/** The statuses and bodies of requests with one key, and how often the handler ran. */
async function answersTo(
  options: IdempotencyOptions,
  sent: readonly Sent[],
  ...before: readonly RequestHandler[]
): Promise<{ runs: number; answers: string[] }> {
  let runs = 0;
  const onError: ErrorRequestHandler = (error: Error, _req, res, next) => {
    if (res.headersSent) next(error);
    else res.status(500).send(error.message);
  };
  const app = express()
    .post('/', ...before, idempotency(options), (_req, res) => {
      res.send(`run ${++runs}`);
    })
    .use(onError);
  const { url } = await serve(app);
  const answers: string[] = [];
  for (const [type, body, headers] of sent) {
    const { status, text } = await send(url, { headers: keyed('k', { 'Content-Type': type, ...headers }), body });
    answers.push(status === 422 || status === 500 ? `${status} ${text}` : text);
  }
  return { runs, answers };
}

describe('with sameBody: json, a body of JSON', () => {
  const json = (body: string | Buffer): Sent => ['application/json', body];
  const charge = '{"amount":4.50,"to":"Ann"}';
  const sameCharge = ' { "to": "\\u0041nn",\n"amount": 4.5 }';

  it.each<[string, Sent, Sent]>([
    ['JSON', json(charge), json(sameCharge)],
    ['a type that ends with +json', ['application/vnd.api+json', charge], ['application/vnd.api+json', sameCharge]],
    [
      'JSON with a charset',
      ['application/json; charset=utf-8', charge],
      ['application/json; charset=UTF-8', sameCharge],
    ],
    ['1 MiB', json(`["${'x'.repeat(1_048_567)}"     ]`), json(`["\\u0078${'x'.repeat(1_048_566)}"]`)],
  ])('that is written in another way is the same request: %s', async (_what, one, other) => {
    const reject = await answersTo({ sameBody: 'json', whenKeyReused: 'reject' }, [one, other]);
    const run = await answersTo({ sameBody: 'json' }, [one, other]);
    expect([reject, run]).toEqual(Array(2).fill({ runs: 1, answers: ['run 1', 'run 1'] }));
  });

  it.each<[string, string]>([
    ['an amount', charge.replace('4.50', '4.51')],
    ['the 20th digit', charge.replace('4.50', '4.5000000000000000001')],
  ])('that has another value is another request: %s', async (_what, body) => {
    const sent = [json(charge), json(body)];
    const { runs, answers } = await answersTo({ sameBody: 'json', whenKeyReused: 'reject' }, sent);
    expect([runs, answers[1]?.slice(0, 3)]).toEqual([1, '422']);
    expect((await answersTo({ sameBody: 'json' }, sent)).runs).toBe(2);
  });

  it.each<[string, Sent, Sent]>([
    ['is longer than 1 MiB', json(`["${'x'.repeat(1_048_573)}"]`), json(`["${'x'.repeat(1_048_573)}" ]`)],
    ['has one name twice', json('{"a":1,"a":2}'), json('{"a":1, "a":2}')],
    ['is no UTF-8', json(Buffer.from([0x22, 0xff, 0x22])), json(Buffer.from([0x22, 0xff, 0x22, 0x20]))],
    ['is said to be in UTF-16', ['application/json; charset=utf-16', '1.0'], ['application/json; charset=utf-16', '1']],
    ['is said to be text', ['text/plain', '{"a":1}'], ['text/plain', '{"a": 1}']],
    [
      'is compressed',
      ['application/json', gzipSync('1.0'), { 'Content-Encoding': 'gzip' }],
      ['application/json', gzipSync('1'), { 'Content-Encoding': 'gzip' }],
    ],
  ])('is compared by its bytes where it %s', async (_what, one, other) => {
    const { runs, answers } = await answersTo({ sameBody: 'json' }, [one, other, one, other]);
    expect([runs, answers]).toEqual([2, ['run 1', 'run 2', 'run 1', 'run 2']]);
  });

  it('is compared in the same way behind a parser', async () => {
    const { runs } = await answersTo({ sameBody: 'json' }, [json(charge), json(sameCharge)], express.json());
    expect(runs).toBe(1);
  });

  it('is compared by its bytes without the option', async () => {
    expect((await answersTo({}, [json(charge), json(sameCharge)])).runs).toBe(2);
    expect((await answersTo({ whenKeyReused: 'reject' }, [json('4.50'), json('4.5')])).answers[1]).toMatch(/^422/);
  });
});

describe('with includeFileContents, a form', () => {
  const form = (value: string, boundary = 'b1'): Sent => {
    const parts: Part[] = [
      { name: 'a', value: '1' },
      { name: 'scan', filename: 'a.png', type: 'image/png', value },
    ];
    const { body, headers } = multipart(parts, boundary);
    return [headers['Content-Type'], body];
  };
  const long = 'x'.repeat(2_000_000);

  it.each<[string, string, string]>([
    ['', 'abc', 'xyz'],
    [' of 2 MB', `${long}a`, `${long}b`],
  ])('with other bytes in a file of equal name and size%s is another request', async (_size, one, other) => {
    for (const before of [[], [multer().any()]]) {
      const sent = [form(one), form(one, 'b2'), form(other)];
      const { answers, runs } = await answersTo(
        { includeFileContents: true, whenKeyReused: 'reject' },
        sent,
        ...before,
      );
      expect([answers.slice(0, 2), answers[2]?.slice(0, 3), runs]).toEqual([['run 1', 'run 1'], '422', 1]);
      expect((await answersTo({ includeFileContents: true }, sent, ...before)).runs).toBe(2);
      expect((await answersTo({ whenKeyReused: 'reject' }, sent, ...before)).runs).toBe(1);
    }
  });

  it('whose file a storage has taken elsewhere is an error that says to mount idempotency() before multer', async () => {
    const storage: multer.StorageEngine = {
      _handleFile: (_req, file, done) => {
        file.stream.resume().on('end', () => {
          done(null, { size: 3 });
        });
      },
      _removeFile: (_req, _file, done) => {
        done(null);
      },
    };
    const { runs, answers } = await answersTo({ includeFileContents: true }, [form('abc')], multer({ storage }).any());
    expect(runs).toBe(0);
    expect(answers).toEqual([
      '500 idempotency: the file of the field "scan" cannot be read where multer has left it, and includeFileContents ' +
        'compares its bytes. Mount idempotency() before multer.',
    ]);
  });
});
