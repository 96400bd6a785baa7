import express from 'express';
import { bindRequest, dto, field, file, fromForm, lazy, list, optional, string, type AnyType } from '../../lib';
import { operationOf, placesIn } from '../support/described';
import { serve } from '../support/serve';

class Page extends dto({ title: string, picture: file, notes: optional(list(string)) }) {}
class Node extends dto({ picture: file, child: optional(lazy((): AnyType => Node)) }) {}

const options = { allowFormData: true } as const;
const namesOf = async (shape: Parameters<typeof dto>[0]): Promise<string[]> =>
  placesIn(await operationOf(dto({ all: fromForm(dto(shape)) }), { options })).map(one => one.replace(/^\S+ /, ''));

describe('the names of a form with files', () => {
  it.each<[string, Parameters<typeof dto>[0], string[]]>([
    ['an object: dotted', { cover: Page }, ['cover.title', 'cover.picture', 'cover.notes?']],
    [
      'a list of objects: those of the first, none of which must be there',
      { pages: list(Page) },
      ['pages[0].title?', 'pages[0].picture?', 'pages[0].notes?'],
    ],
    ['a list of lists', { grid: list(list(dto({ f: file }))) }, ['grid[0][0].f?']],
    ['a list in an object', { book: dto({ pages: list(dto({ f: file })) }) }, ['book.pages[0].f?']],
    ['a type that contains itself: not beyond the first', { tree: Node }, ['tree.picture']],
    ['a name of its own', { p: field(dto({ f: file }), { bindFrom: 'a+(b)' }) }, ['a+(b).f']],
  ])('%s', async (_what, shape, names) => {
    expect(await namesOf(shape)).toEqual(names);
  });

  it('are those that binding reads', async () => {
    const shape = { pages: list(Page), cover: Page, title: string };
    const app = express();
    app.post('/', bindRequest(dto({ all: fromForm(dto(shape)) }), options), (req, res) => {
      res.json(req.dto.all.pages.map(page => page.title));
    });
    const body = new FormData();
    for (const name of await namesOf(shape)) {
      const sent = name.replace('?', '');
      body.append(sent, sent.endsWith('.picture') ? new Blob(['x']) : sent);
    }
    const { url } = await serve(app);
    const answer = await fetch(url, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, ['pages[0].title']]);
  });
});
