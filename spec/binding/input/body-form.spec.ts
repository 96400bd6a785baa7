import express, { type RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { bindRequest, dto, field, file, formField, idempotency, optional, string, type AnyType } from '../../../lib';
import { ask } from '../../support/ask';

class Titled extends dto({ title: formField(string) }) {}
class Pictured extends dto({ photo: file }) {}
class Both extends dto({ title: formField(string), photo: optional(file) }) {}
class Noted extends dto({ note: field(string, { required: false }) }) {}

it.each<[string, AnyType, AnyType, readonly RequestHandler[], unknown[]]>([
  ['where the first declares the file', Both, Pictured, [], ['t', 'a.png', 'a.png']],
  ['where they are swapped', Pictured, Titled, [], ['a.png', 't']],
  ['behind idempotency(), which keeps it', Titled, Pictured, [idempotency({ store: new Keyv() })], ['t', 'a.png']],
  ['where no dto declares the file that was sent', Titled, Noted, [], ['t']],
])('a form is bound to two dtos of one route %s', async (_where, first, second, before, expected) => {
  const [one, other] = [first, second].map(Dto => bindRequest(Dto, { allowFormData: true }) as RequestHandler);
  const seen: unknown[] = [];
  const see: RequestHandler = (req, _res, next) => {
    const { title, photo } = req.dto as unknown as { title?: string; photo?: Express.Multer.File };
    seen.push(...[title, photo?.originalname].filter(Boolean));
    next();
  };
  const app = express().post('/', ...before, one as RequestHandler, see, other as RequestHandler, see, (_req, res) => {
    res.end();
  });
  const multipart = [['title', 't'], ['photo', new File(['abc'], 'a.png')]] as const; // prettier-ignore
  expect((await ask(app, { key: 'k', multipart })).status).toBe(200);
  expect(seen).toEqual(expected);
});
