import { dto, file, list, optional, string, type UploadedFile } from '../../../lib';
import { bind } from '../../support/one-endpoint';

class Photos extends dto({ cover: file, others: optional(list(file)), title: string }) {}
const image = (name: string, bytes = name) => new File([bytes], name, { type: 'image/png' });
const names = (files: readonly UploadedFile[] | undefined) => files?.map(({ originalname }) => originalname);
const form = { allowFormData: true };

it('a file comes with its name, type, size and bytes', async () => {
  const { dto: bound } = await bind(
    Photos,
    {
      multipart: [
        ['title', 'x'],
        ['cover', image('é "1".png', 'bytes')],
      ],
    },
    form,
  );
  expect(bound?.cover).toMatchObject({
    fieldname: 'cover',
    originalname: 'é "1".png',
    mimetype: 'image/png',
    size: 5,
    buffer: Buffer.from('bytes'),
  });
});

it.each([
  ['repeated names', ['others', 'others', 'others'], ['a', 'b', 'c']],
  ['names with empty brackets', ['others[]', 'others[]', 'others[]'], ['a', 'b', 'c']],
  ['indexed names in order', ['others[0]', 'others[1]', 'others[2]'], ['a', 'b', 'c']],
  ['indexed names in any order, with gaps', ['others[10]', 'others[0]', 'others[2]'], ['b', 'c', 'a']],
  ['names in another case', ['Others', 'OTHERS', 'others'], ['a', 'b', 'c']],
])('a list of files takes %s', async (_shape, fields, order) => {
  const files = fields.map((name, index) => [name, image('abc'.charAt(index))] as const);
  const { dto: bound } = await bind(Photos, { multipart: [['title', 'x'], ['cover', image('cover')], ...files] }, form);
  expect(names(bound?.others)).toEqual(order);
});

it.each([
  [
    'two files for one',
    [
      ['title', 'x'],
      ['cover', image('a')],
      ['cover', image('b')],
    ],
    { name: 'cover', in: 'form', detail: 'There are 2 files where one is expected.' },
  ],
  [
    'text for a file',
    [
      ['title', 'x'],
      ['cover', 'text'],
    ],
    { name: 'cover', in: 'form', detail: 'A file is expected.' },
  ],
  [
    'a file for text',
    [
      ['title', image('a')],
      ['cover', image('b')],
    ],
    { name: 'title', in: 'form', detail: 'Send text here, not a file.' },
  ],
  ['no file', [['title', 'x']], { name: 'cover', in: 'form', detail: 'A value is required.' }],
] as const)('%s is refused', async (_what, multipart, failure) => {
  const { status, errors } = await bind(Photos, { multipart }, form);
  expect({ status, errors }).toEqual({ status: 400, errors: [failure] });
});

it('a file that has not been chosen in a browser is a missing one', async () => {
  class Maybe extends dto({ cover: optional(file), title: string }) {}
  const body = [
    '--x',
    'Content-Disposition: form-data; name="title"',
    '',
    't',
    '--x',
    'Content-Disposition: form-data; name="cover"; filename=""',
    'Content-Type: application/octet-stream',
    '',
    '',
    '--x--',
    '',
  ].join('\r\n');
  expect(
    (await bind(Maybe, { headers: { 'Content-Type': 'multipart/form-data; boundary=x' }, body }, form)).dto,
  ).toEqual({ title: 't' });
});

it('a file is set from an upload only, not from JSON, query or route', async () => {
  class Maybe extends dto({ cover: optional(file) }) {}
  for (const sent of [{ json: { cover: { path: '/etc/passwd' } } }, { path: '/x?cover=/etc/passwd' }]) {
    const { dto: bound } = await bind(Maybe, sent, { route: '/{:cover}' });
    expect(bound?.cover).toBeUndefined();
  }
});

it('files under other names are left aside', async () => {
  const { status, dto: bound } = await bind(
    Photos,
    {
      multipart: [
        ['title', 'x'],
        ['cover', image('a')],
        ['extra', image('b')],
        ['coverx', image('c')],
      ],
    },
    form,
  );
  expect([status, Object.keys(bound ?? {}).sort()]).toEqual([200, ['cover', 'title']]);
});
