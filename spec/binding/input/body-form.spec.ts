import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, dto, field, file, formField, idempotency, optional, string, type AnyType } from '../../../lib';
import { ask, type Sent } from '../../support/ask';

/** Two `bindRequest()` of one route: what each has bound, or the status and the text of the answer. */
describe('a form that two dtos are bound from', () => {
  class Titled extends dto({ title: formField(string) }) {}
  class Pictured extends dto({ photo: file }) {}
  class Line extends dto({ sku: string }) {}

  const two = async (
    first: AnyType,
    second: AnyType,
    sent: Sent['multipart'] = [],
    before: readonly RequestHandler[] = [],
  ): Promise<unknown> => {
    const bound: unknown[] = [];
    const note: RequestHandler = (req: Request, _res, next) => {
      bound.push((req as { dto?: unknown }).dto);
      next();
    };
    const forms = { allowFormData: true };
    const failed: ErrorRequestHandler = (error: Error, _req, res, next) => {
      if (res.headersSent) next(error);
      else res.status(500).end(error.message);
    };
    const app = express().post(
      '/',
      ...before,
      bindRequest(first, forms) as RequestHandler,
      note,
      bindRequest(second, forms) as RequestHandler,
      note,
      (_req, res) => {
        res.end();
      },
    );
    const { status, text } = await ask(app.use(failed), { key: 'k', multipart: sent });
    return status === 200 ? bound : [status, text];
  };

  const photo = ['photo', new File(['abc'], 'a.png')] as const;
  const title = ['title', 't'] as const;
  const line = ['line', new File(['{"sku":"a"}'], 'blob', { type: 'application/json' })] as const;
  const stored = expect.objectContaining({ originalname: 'a.png' }) as unknown;

  it('is bound to both if the first declares the file, or if they are swapped', async () => {
    class Both extends dto({ title: formField(string), photo: optional(file) }) {}
    expect(await two(Both, Pictured, [title, photo])).toEqual([{ title: 't', photo: stored }, { photo: stored }]);
    expect(await two(Pictured, Titled, [title, photo])).toEqual([{ photo: stored }, { title: 't' }]);
    expect(await two(dto({ line: Line }), Titled, [title, line])).toEqual([{ line: { sku: 'a' } }, { title: 't' }]);
  });

  it('is bound to both behind idempotency(), which keeps it', async () => {
    const before = [idempotency({ store: new Keyv() })];
    expect(await two(Titled, Pictured, [title, photo], before)).toEqual([{ title: 't' }, { photo: stored }]);
    expect(await two(Titled, dto({ line: Line }), [title, line], before)).toEqual([
      { title: 't' },
      { line: { sku: 'a' } },
    ]);
  });

  it('has what a client sends as a file where no dto declares one: that is no fault of the application', async () => {
    class Noted extends dto({ note: field(string, { required: false }) }) {}
    expect(await two(Titled, Noted, [title, ['note', photo[1]]])).toEqual([{ title: 't' }, {}]);
  });
});
