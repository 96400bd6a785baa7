import type { RequestHandler } from 'express';
import type { IdempotentRequestInit } from '../../lib/client';
import { answer, client, service } from './service';

const form = (): FormData => {
  const made = new FormData();
  made.append('amount', '1');
  return made;
};

describe.each([307, 308])('a request is sent again, with all of its body, to where a %d leads', status => {
  it.each<[string, () => IdempotentRequestInit['body'], string | undefined, RegExp]>([
    ['text', () => 'amount: 1 €', 'text/plain;charset=UTF-8', /^amount: 1 €$/],
    ['empty text', () => '', 'text/plain;charset=UTF-8', /^$/],
    ['a Blob without a type', () => new Blob(['amount: 1']), undefined, /^amount: 1$/],
    ['bytes', () => new TextEncoder().encode('amount: 1'), undefined, /^amount: 1$/],
    ['a form', form, 'multipart/form-data; boundary=', /name="amount"\r\n\r\n1\r\n/],
  ])('%s', async (_title, body, type, content) => {
    const arrived: object[] = [];
    const collect: RequestHandler = (req, res) => {
      void new Response(req as never).text().then(text => {
        arrived.push({ key: req.get('Idempotency-Key'), type: req.headers['content-type'], text });
        res.sendStatus(201);
      });
    };
    const { url } = await service([answer(status, { Location: '/elsewhere' }), collect]);
    const { response, key, attempts } = await client()(url, { method: 'POST', body: body() ?? null });
    expect([response.status, response.redirected, attempts]).toEqual([201, true, 1]);
    const sentType = type === undefined ? undefined : (expect.stringContaining(type) as string);
    expect(arrived).toEqual([{ key, type: sentType, text: expect.stringMatching(content) as string }]);
  });
});
