import { gzipSync } from 'node:zlib';
import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { dto, int, list, plainText, type AnyType } from '../../../lib';
import { expressVersions } from '../../support/express-versions';
import type { Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Pay extends dto({ a: int }) {}
class Note extends dto({ text: plainText() }) {}

/** JSON text whose value is JSON text. */
const TWICE = JSON.stringify('{"a":1}');
const chunked = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'application/json' };
const gzipped = { 'Content-Encoding': 'gzip', 'Content-Type': 'application/json' };

/** Goes first: a process is warned once. */
it('an application is told once what to mount', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation();
  for (let time = 0; time < 2; time++) {
    await bind(Note, { json: { a: 1 } }, { before: [express.json()] });
    await bind(Pay, { body: TWICE, headers: chunked }, { before: [express.text({ type: 'application/json' })] });
  }
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining('Mount bindRequest() before the parser'), { code: 'BINDONCE_TEXT_IS_GONE' }],
    [expect.stringContaining('Mount bindRequest() before the parser'), { code: 'BINDONCE_BODY_TEXT' }],
  ]);
  warn.mockRestore();
});

describe.each(expressVersions)('%s', (_name, framework) => {
  const json = express.json({ strict: false });
  const text = express.text({ type: 'application/json' });

  it.each<[string, AnyType, string, number, unknown]>([
    ['is not parsed a second time', Pay, TWICE, 400, undefined],
    ['is not parsed a second time for a list', list(int), JSON.stringify('[1]'), 400, undefined],
    ['is not parsed a second time for a schema', z.object({ a: z.number() }), TWICE, 400, undefined],
    ['is text for a schema that takes text', z.string(), TWICE, 200, '{"a":1}'],
    ['of no characters is text', z.string(), '""', 200, ''],
    ['of other characters is text', z.string(), '"\\u00e9\\n\\ud83d\\ude00é"', 200, 'é\n😀é'],
  ])('a JSON string that express.json({ strict: false }) has parsed %s', async (_what, Dto, sent, expected, value) => {
    const { status, dto: bound } = await bind(Dto, { json: sent }, { framework, before: [json] });
    expect([status, bound]).toEqual([expected, value]);
  });

  it('explains the failure', async () => {
    expect((await bind(Pay, { json: TWICE }, { framework, before: [json] })).errors).toEqual([
      { name: '', in: 'json', pointer: '', detail: 'The value "{\\"a\\":1}" is not a JSON object.' },
    ]);
  });

  it.each<[string, AnyType, string, unknown]>([
    ['an object', Pay, '{"a":1}', { a: 1 }],
    ['with other characters', z.object({ a: z.string() }), '{"a":"é😀"}', { a: 'é😀' }],
    ['a list', list(int), '[1,2]', [1, 2]],
    ['a string', z.string(), TWICE, '{"a":1}'],
  ])('JSON that express.text() has left is parsed once: %s', async (_what, Dto, sent, value) => {
    expect((await bind(Dto, { json: sent }, { framework, before: [text] })).dto).toEqual(value);
  });

  const keepMark: RequestHandler = (req, _res, next) => {
    let left = '';
    req.setEncoding('utf8').on('data', (piece: string) => (left += piece));
    req.on('end', () => {
      req.body = left;
      next();
    });
  };

  it.each<[string, RequestHandler[]]>([
    ['that nothing has read', []],
    ['that express.json() has left', [json]],
    ['that express.raw() has left', [express.raw({ type: 'application/json' })]],
    ['that express.text() has left, without the mark', [text]],
    ['that another parser has left, with the mark', [keepMark]],
  ])('JSON with a byte order mark, %s, is JSON, and its text is without the mark', async (_how, before) => {
    const sent = { json: '\ufeff{"a":1}' };
    expect((await bind(Pay, sent, { framework, before })).dto).toEqual({ a: 1 });
    expect((await bind(z.object({ a: z.number() }), sent, { framework, before })).dto).toEqual({ a: 1 });
    if (before[0] !== json) expect((await bind(Note, sent, { framework, before })).dto).toEqual({ text: '{"a":1}' });
  });

  it('JSON that express.text() has left and that is malformed is refused as that', async () => {
    expect((await bind(Pay, { json: '{"a":' }, { framework, before: [text] })).problem).toMatchObject({
      status: 400,
      type: 'urn:bindonce:body-malformed',
    });
  });

  it.each<[string, Sent]>([
    ['in chunks', { body: TWICE, headers: chunked }],
    ['compressed', { body: gzipSync(TWICE), headers: gzipped }],
  ])('text of which cannot be told who has left it is refused, not guessed at: %s', async (_how, sent) => {
    for (const before of [json, text]) {
      for (const Dto of [Pay, z.any(), z.string()]) {
        const { status, problem } = await bind<AnyType>(Dto, sent, { framework, before: [before] });
        expect([status, problem?.type, problem?.detail]).toEqual([
          415,
          'urn:bindonce:body-unsupported',
          expect.stringContaining('Content-Length'),
        ]);
      }
    }
  });

  it.each<[string, RequestHandler, Sent]>([
    ['an object', express.json(), { json: { a: 1 } }],
    ['a string', json, { json: TWICE }],
    ['null', json, { json: 'null' }],
    ['a number', json, { json: '1' }],
  ])('plainText behind express.json() is 415 where a client sends JSON: %s', async (_what, parser, sent) => {
    const { status, problem, response } = await bind(Note, sent, { framework, before: [parser] });
    expect([status, problem?.type, response.headers['accept']]).toEqual([
      415,
      'urn:bindonce:body-unsupported',
      'text/plain',
    ]);
  });

  it('plainText behind express.json() takes text, and behind express.text() JSON as it was sent', async () => {
    expect(
      (
        await bind(
          Note,
          { body: 'hi', headers: { 'Content-Type': 'text/plain' } },
          { framework, before: [express.json()] },
        )
      ).dto,
    ).toEqual({ text: 'hi' });
    expect((await bind(Note, { json: TWICE }, { framework, before: [text] })).dto).toEqual({ text: TWICE });
    expect(
      (
        await bind(
          Note,
          { body: Buffer.from('caf\xe9', 'latin1'), headers: { 'Content-Type': 'text/plain; charset=iso-8859-1' } },
          { framework, before: [express.text()] },
        )
      ).dto,
    ).toEqual({ text: 'café' });
  });
});

it('bytes that are not UTF-8 do not hide that a parser has shortened the text', async () => {
  // Each is read as a character of three bytes, so that the text is as long as the body was.
  const body = Buffer.concat([Buffer.from('"{\\"a\\":1,\\"b\\":\\"'), Buffer.alloc(5, 0xff), Buffer.from('\\"}"')]);
  const { status } = await bind(
    Pay,
    { body, headers: { 'Content-Type': 'application/json' } },
    { before: [express.json({ strict: false })] },
  );
  expect(status).toBe(415);
});
