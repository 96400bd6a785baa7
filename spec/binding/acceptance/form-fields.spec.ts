import { bool, dto, file, int, list, optional, string, type UploadedFile } from '../../../lib';
import { pairs, type Sent } from '../../support/ask';
import { bind, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';

type Field = readonly [name: string, value: string];
const kinds = [
  ['multipart', (fields: readonly Field[]): Sent => ({ multipart: fields })],
  ['urlencoded', (fields: readonly Field[]): Sent => ({ form: fields })],
] as const;

class Signup extends dto({ email: string, age: int }) {}
const SIGNUP: readonly Field[] = pairs('email=a@example.org&age=36');

it.each<[string, EndpointOptions, Sent, number]>([
  ['nothing: no multipart', {}, { multipart: SIGNUP }, 415],
  ['nothing: no urlencoded', {}, { form: SIGNUP }, 415],
  ['true: multipart', { allowFormData: true }, { multipart: SIGNUP }, 200],
  ['true: no urlencoded', { allowFormData: true }, { form: SIGNUP }, 415],
  ['{ urlEncoded: true }: multipart', urlEncoded, { multipart: SIGNUP }, 200],
  ['{ urlEncoded: true }: urlencoded', urlEncoded, { form: SIGNUP }, 200],
])('an endpoint reads the forms that allowFormData allows; %s', async (_what, options, sent, status) => {
  const { status: answered, dto: bound } = await bind(Signup, sent, options);
  expect([answered, bound]).toEqual([status, status === 200 ? { email: 'a@example.org', age: 36 } : undefined]);
});

class Address extends dto({ street: string, zip: int }) {}
const HOME = { street: 'Ring 1', zip: 53111 };
const WORK = { street: 'Kai, 2', zip: 24103 };

class Profile extends dto({
  name: optional(string),
  news: optional(bool),
  sizes: optional(list(int)),
  home: optional(Address),
  all: optional(list(Address)),
}) {}

const shapes: readonly [string, readonly Field[], object][] = [
  ['scalar, one field per property', pairs('name=Ada, A.&news=true'), { name: 'Ada, A.', news: true }],
  ['collection, a repeated field name', pairs('sizes=3&sizes=1&sizes=2'), { sizes: [3, 1, 2] }],
  ['collection, a field name that occurs once', [['sizes', '3']], { sizes: [3] }],
  ['collection, an indexed name', pairs('sizes[2]=2&sizes[0]=3&sizes[1]=1'), { sizes: [3, 1, 2] }],
  ['collection, a name with empty brackets', pairs('sizes[]=3&sizes[]=1&sizes[]=2'), { sizes: [3, 1, 2] }],
  ['collection, one comma-separated value', [['sizes', '3,1,2']], { sizes: [3, 1, 2] }],
  ['JSON object, one field', [['home', JSON.stringify(HOME)]], { home: HOME }],
  ['JSON array of scalars, one field', [['sizes', '[3, 1, 2]']], { sizes: [3, 1, 2] }],
  ['JSON array of objects, one field', [['all', JSON.stringify([HOME, WORK])]], { all: [HOME, WORK] }],
];

describe.each(kinds)('%s', (_kind, form) => {
  it.each(shapes)('is read: %s', async (_shape, fields, value) => {
    const { dto: bound } = await bind(Profile, form(fields), urlEncoded);
    expect(bound).toEqual(value);
    expect([bound?.home, ...(bound?.all ?? [])].every(one => one === undefined || one instanceof Address)).toBe(true);
  });
});

const png = (content: string): File => new File([content], `${content}.png`, { type: 'image/png' });
const contentOf = ({ buffer }: UploadedFile): string => buffer.toString();
const contents = (files: readonly UploadedFile[] | undefined): readonly string[] | undefined => files?.map(contentOf);

describe('files', () => {
  class Upload extends dto({ title: string, cover: file, pages: optional(list(file)) }) {}
  const start = [
    ['title', 't'],
    ['cover', png('c')],
  ] as const;

  it.each<[string, readonly string[]]>([
    ['repeated names', ['pages', 'pages']],
    ['empty brackets', ['pages[]', 'pages[]']],
    ['an index', ['pages[0]', 'pages[1]']],
  ])('one file and a collection of files are bound, by %s', async (_how, [first = '', second = '']) => {
    const { dto: bound } = await bind(
      Upload,
      { multipart: [...start, [first, png('a')], [second, png('b')]] },
      { allowFormData: true },
    );
    expect([bound?.title, bound && contentOf(bound.cover), contents(bound?.pages)]).toEqual(['t', 'c', ['a', 'b']]);
  });

  it('one file is a collection of one; an optional collection may have none', async () => {
    expect(
      contents(
        (await bind(Upload, { multipart: [...start, ['pages', png('a')]] }, { allowFormData: true })).dto?.pages,
      ),
    ).toEqual(['a']);
    expect((await bind(Upload, { multipart: start }, { allowFormData: true })).dto?.pages).toBeUndefined();
  });
});
