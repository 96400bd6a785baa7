import Ajv from 'ajv/dist/2020';
import express from 'express';
import {
  bindRequest,
  dto,
  field,
  file,
  fromForm,
  int,
  lazy,
  list,
  optional,
  problemDetails,
  string,
  type AnyType,
} from '../../../lib';
import { operationOf } from '../../support/described';
import { serve } from '../../support/serve';

class Page extends dto({ title: string, picture: file, notes: optional(list(string)) }) {}
class Node extends dto({ picture: file, child: optional(lazy((): AnyType => Node)) }) {}

interface Form {
  readonly properties?: Readonly<Record<string, object>>;
  readonly patternProperties?: Readonly<Record<string, { readonly description: string }>>;
  readonly required?: readonly string[];
}

async function formOf(Dto: AnyType): Promise<Form & { readonly encoding: object | undefined }> {
  const { requestBody } = await operationOf(Dto, { options: { allowFormData: true } });
  const { schema, encoding } = requestBody?.content['multipart/form-data'] ?? { schema: {} };
  return { ...schema, encoding };
}

describe('the names of a form with files', () => {
  it.each<[string, AnyType, string[], string[]]>([
    [
      'an object: dotted',
      dto({ all: fromForm(dto({ cover: Page })) }),
      ['cover.title', 'cover.picture', 'cover.notes'],
      [],
    ],
    [
      'a list of objects: numbered',
      dto({ all: fromForm(dto({ pages: list(Page) })) }),
      [],
      ['^pages\\[[0-9]+\\]\\.title$', '^pages\\[[0-9]+\\]\\.picture$', '^pages\\[[0-9]+\\]\\.notes$'],
    ],
    [
      'a list of lists: with both numbers',
      dto({ all: fromForm(dto({ grid: list(list(dto({ f: file }))) })) }),
      [],
      ['^grid\\[[0-9]+\\]\\[[0-9]+\\]\\.f$'],
    ],
    [
      'a list in an object',
      dto({ all: fromForm(dto({ book: dto({ pages: list(dto({ f: file })) }) })) }),
      [],
      ['^book\\.pages\\[[0-9]+\\]\\.f$'],
    ],
    [
      'a type that contains itself: open at any depth',
      dto({ all: fromForm(dto({ tree: Node })) }),
      ['tree.picture'],
      ['^tree\\.child[.\\[]'],
    ],
    [
      'characters that a pattern would not take for themselves',
      dto({ all: fromForm(dto({ p: field(list(dto({ f: file })), { bindFrom: 'a+(b)' }) })) }),
      [],
      ['^a\\+\\(b\\)\\[[0-9]+\\]\\.f$'],
    ],
  ])('%s', async (_what, Dto, names, patterns) => {
    const { properties = {}, patternProperties = {} } = await formOf(Dto);
    expect([Object.keys(properties), Object.keys(patternProperties)]).toEqual([names, patterns]);
  });

  it('say how they are sent, and which every item must have', async () => {
    const {
      patternProperties = {},
      required,
      encoding,
    } = await formOf(dto({ all: fromForm(dto({ pages: list(Page) })) }));
    const [title, , notes] = Object.values(patternProperties);
    expect(title?.description).toBe('Sent as pages[0].title, pages[1].title and so on; every item must have it.');
    expect(notes?.description).toBe('Sent as pages[0].notes, pages[1].notes and so on.');
    expect([required, encoding]).toEqual([undefined, undefined]);
  });

  it('stand in the description of the body, too: Swagger UI shows no patterns', async () => {
    const Dto = dto({ all: fromForm(dto({ title: string, pages: list(Page) })) });
    const { requestBody } = await operationOf(Dto, { options: { allowFormData: true } });
    expect(requestBody?.description).toMatch(
      / Items are numbered from 0: pages\[0\].title, pages\[0\].picture, pages\[0\].notes\.$/,
    );
  });

  it('of a list of lists of files are one name: each file is a list of its own', async () => {
    const { properties } = await formOf(dto({ files: list(list(file)) }));
    expect(properties).toMatchObject({ files: { type: 'array', items: { type: 'string', format: 'binary' } } });
  });

  it('are those that binding reads', async () => {
    class Album extends dto({ pages: list(Page), tree: Node, title: string }) {}
    const Dto = dto({ album: fromForm(Album) });
    const app = express();
    app.post('/', bindRequest(Dto, { allowFormData: true }), (req, res) => {
      const { pages, tree } = req.dto.album as { pages: { title: string }[]; tree: { child: { picture: object } } };
      res.json([pages.map(page => page.title), typeof tree.child.picture]);
    });
    app.use(problemDetails());
    const sent: Record<string, string> = {
      ...{ title: 'a', 'pages[0].title': 'b', 'pages[0].picture': '', 'pages[1].title': 'c', 'pages[1].picture': '' },
      ...{ 'tree.picture': '', 'tree.child.picture': '' },
    };
    const schema = await formOf(Dto);
    const allows = new Ajv({ strict: false, validateFormats: false }).compile({
      ...schema,
      additionalProperties: false,
    });
    expect(allows(sent)).toBe(true);
    expect(allows({ ...sent, 'pages.title': 'x' })).toBe(false);
    const body = new FormData();
    for (const [name, value] of Object.entries(sent)) body.append(name, value === '' ? new Blob(['x']) : value);
    const { url } = await serve(app);
    const answer = await fetch(url, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([200, [['b', 'c'], 'object']]);
  });
});

it('a class of which only the parts are described is not a component', async () => {
  const { schemas } = await operationOf(dto({ all: fromForm(dto({ pages: list(Page), n: int })) }), {
    options: { allowFormData: true },
  });
  expect(Object.keys(schemas)).toEqual(['Problem', 'InvalidValue']);
});
