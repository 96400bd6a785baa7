import express from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { send, type WireResponse } from '../../servers/listen';
import { multipart, type Part } from './multipart';
import { serve } from '../serve';
import { keyed } from '../wire';

async function served(options: IdempotencyOptions = {}) {
  const state = { runs: 0 };
  const { url } = await serve(express().post('/', idempotency(options), (_req, res) => { res.json({ run: ++state.runs }); }));
  const post = (parts: readonly Part[], boundary = 'b1'): Promise<WireResponse> => {
    const { body, headers } = multipart(parts, boundary);
    return send(url, { headers: keyed('k', headers), body });
  };
  return { url, state, post };
}

const field = (name: string, value: string): Part => ({ name, value });
const file = (name: string, filename: string, value: string): Part => ({ name, filename, value });
const BIG = 'x'.repeat(2_000_000);

describe('a multipart form', () => {
  it.each<[string, Part[], Part[]]>([
    ['the bytes of a file of one size', [file('f', 'a.txt', 'abc')], [file('f', 'a.txt', 'xyz')]],
    ['the bytes of a file of 2 MB', [file('f', 'a.txt', `${BIG}a`)], [file('f', 'a.txt', `${BIG}b`)]],
    ['the media type of a file', [file('f', 'a.txt', 'abc')], [{ ...file('f', 'a.txt', 'abc'), type: 'image/png' }]],
    ['the order of names', [field('a', '1'), field('b', '2'), file('f', 'a', 'x')], [file('f', 'a', 'x'), field('b', '2'), field('a', '1')]],
  ])('that differs only in %s is a duplicate', async (_title, one, other) => {
    const { state, post } = await served();
    const first = await post(one);
    const second = await post(other);
    expect([first.text, second.text, state.runs]).toEqual(['{"run":1}', '{"run":1}', 1]);
  });

  it.each<[string, Part[]]>([['small', [field('a', '1'), file('f', 'a.txt', 'abc')]], ['of 2 MB', [field('a', '1'), file('f', 'a.txt', BIG)]]])('%s with another boundary is a duplicate', async (_title, parts) => {
    const { state, post } = await served();
    await post(parts, 'b1');
    expect((await post(parts, '----another-boundary')).headers['idempotent-replayed']).toBe('true');
    expect(state.runs).toBe(1);
  });

  it.each<[string, Part[], Part[]]>([
    ['a field value', [field('a', '1')], [field('a', '2')]],
    ['a field name', [field('a', '1')], [field('b', '1')]],
    ['where a field name ends', [field('a', 'bc')], [field('ab', 'c')]],
    ['the order of the values of one field', [field('a', '1'), field('a', '2')], [field('a', '2'), field('a', '1')]],
    ['a field called __proto__', [field('__proto__', '1')], [field('__proto__', '2')]],
    ['a file name', [file('f', 'a.txt', 'abc')], [file('f', 'b.txt', 'abc')]],
    ['a file name beyond ASCII', [file('f', 'ä.txt', 'abc')], [file('f', 'ö.txt', 'abc')]],
    ['the field of a file', [file('f', 'a.txt', 'abc')], [file('g', 'a.txt', 'abc')]],
    ['the size of a file', [file('f', 'a.txt', 'abc')], [file('f', 'a.txt', 'abcd')]],
    ['the size of a file of 2 MB', [file('f', 'a.txt', BIG)], [file('f', 'a.txt', `${BIG}x`)]],
    ['a field beside a file of 2 MB', [file('f', 'a.txt', BIG), field('a', '1')], [file('f', 'a.txt', BIG), field('a', '2')]],
    ['the number of files', [file('f', 'a.txt', 'abc')], [file('f', 'a.txt', 'abc'), file('f', 'a.txt', 'abc')]],
    ['the order of the files of one field', [file('f', 'a', '1'), file('f', 'b', '1')], [file('f', 'b', '1'), file('f', 'a', '1')]],
    ['file or fields', [file('f', 'a', '1')], [field('f', 'a'), field('f', '1')]],
  ])('that differs in %s is another request', async (_title, one, other) => {
    const { state, post } = await served();
    for (const parts of [one, other, one, other]) expect((await post(parts)).status).toBe(200);
    expect(state.runs).toBe(2);
  });

  it('takes no part where the body is ignored', async () => {
    const { state, post } = await served({ ignoreRequestBody: true });
    await post([field('a', '1')]);
    await post([file('f', 'a', 'x')]);
    expect(state.runs).toBe(1);
  });

  it.each<[string, string, string]>([
    ['no boundary', 'multipart/form-data', 'anything'],
    ['a body without the boundary', 'multipart/form-data; boundary=b1', 'anything'],
    ['no end', 'multipart/form-data; boundary=b1', '--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n1'],
    ['a part without an end of its head', 'multipart/form-data; boundary=b1', '--b1\r\nContent-Disposition: form-data; name="a"\r\n--b1--\r\n'],
  ])('with %s is a 400, and the handler does not run', async (_title, type, body) => {
    const { url, state } = await served();
    const answer = await send(url, { headers: keyed('k', { 'Content-Type': type }), body });
    expect([answer.status, (JSON.parse(answer.text) as { type: string }).type]).toEqual([400, 'urn:bindonce:body-malformed']);
    expect(state.runs).toBe(0);
  });
});

describe('a body', () => {
  it.each<[string, string, Buffer]>([
    ['text', 'text/plain', Buffer.alloc(101, 'x')],
    ['JSON', 'application/json', Buffer.from(JSON.stringify('x'.repeat(99)))],
    ['a form', 'application/x-www-form-urlencoded', Buffer.from(`a=${'x'.repeat(99)}`)],
    ['a multipart form', 'multipart/form-data; boundary=b1', multipart([file('f', 'a', 'x'.repeat(99))], 'b1').body],
  ])('of %s over maxRequestBytes is a 413, and the handler does not run', async (_title, type, body) => {
    const { url, state } = await served({ maxRequestBytes: 100 });
    for (const framing of [['Content-Length', String(body.length)], ['Transfer-Encoding', 'chunked']] as const) {
      const answer = await send(url, { headers: keyed('k', { 'Content-Type': type, [framing[0]]: framing[1] }), body });
      expect([answer.status, (JSON.parse(answer.text) as { type: string }).type]).toEqual([413, 'urn:bindonce:body-too-large']);
    }
    expect(state.runs).toBe(0);
  });

  it('of maxRequestBytes is accepted', async () => {
    const { url, state } = await served({ maxRequestBytes: 100 });
    for (const framing of [['Content-Length', '100'], ['Transfer-Encoding', 'chunked']] as const) {
      expect((await send(url, { headers: keyed('k', { 'Content-Type': 'text/plain', [framing[0]]: framing[1] }), body: 'x'.repeat(100) })).status).toBe(200);
    }
    expect(state.runs).toBe(1);
  });
});
