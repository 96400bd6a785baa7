import {
  bindRequest,
  bool,
  dto,
  field,
  file,
  formField,
  fromForm,
  int,
  list,
  optional,
  string,
  type AnyType,
  type UploadedFile,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { bind, urlEncoded, type EndpointOptions } from '../../support/one-endpoint';

type Field = readonly [name: string, value: string];
const kinds = [
  ['multipart', (fields: readonly Field[]): Sent => ({ multipart: fields })],
  ['urlencoded', (fields: readonly Field[]): Sent => ({ form: fields })],
] as const;

class Signup extends dto({ email: string, age: int }) {}
const SIGNUP: readonly Field[] = [
  ['email', 'a@example.org'],
  ['age', '36'],
];

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
class DecoratedAddress {
  @field(string) street!: string;
  @field(int) zip!: number;
}
const HOME = { street: 'Ring 1', zip: 53111 };
const WORK = { street: 'Kai, 2', zip: 24103 };

class Profile extends dto({
  name: optional(string),
  news: optional(bool),
  sizes: optional(list(int)),
  home: optional(Address),
  all: optional(list(Address)),
}) {}
class DecoratedProfile {
  @formField(optional(string)) name?: string;
  @formField(optional(bool)) news?: boolean;
  @formField(optional(list(int))) sizes?: number[];
  @formField(optional(DecoratedAddress)) home?: DecoratedAddress;
  @formField(optional(list(DecoratedAddress))) all?: DecoratedAddress[];
}

const shapes: readonly [string, readonly Field[], object][] = [
  [
    'scalar, one field per property',
    [
      ['name', 'Ada, A.'],
      ['news', 'true'],
    ],
    { name: 'Ada, A.', news: true },
  ],
  [
    'collection, a repeated field name',
    [
      ['sizes', '3'],
      ['sizes', '1'],
      ['sizes', '2'],
    ],
    { sizes: [3, 1, 2] },
  ],
  ['collection, a field name that occurs once', [['sizes', '3']], { sizes: [3] }],
  [
    'collection, an indexed name',
    [
      ['sizes[2]', '2'],
      ['sizes[0]', '3'],
      ['sizes[1]', '1'],
    ],
    { sizes: [3, 1, 2] },
  ],
  [
    'collection, a name with empty brackets',
    [
      ['sizes[]', '3'],
      ['sizes[]', '1'],
      ['sizes[]', '2'],
    ],
    { sizes: [3, 1, 2] },
  ],
  ['collection, one comma-separated value', [['sizes', '3,1,2']], { sizes: [3, 1, 2] }],
  ['JSON object, one field', [['home', JSON.stringify(HOME)]], { home: HOME }],
  ['JSON array of scalars, one field', [['sizes', '[3, 1, 2]']], { sizes: [3, 1, 2] }],
  ['JSON array of objects, one field', [['all', JSON.stringify([HOME, WORK])]], { all: [HOME, WORK] }],
];

describe.each(kinds)('%s', (_kind, form) => {
  describe.each([
    ['dto({...})', Profile, Address],
    ['decorators', DecoratedProfile, DecoratedAddress],
  ])('%s', (_notation, Dto, Nested) => {
    it.each(shapes)('is read: %s', async (_shape, fields, value) => {
      const { dto: bound } = await bind(Dto, form(fields), urlEncoded);
      expect(bound).toEqual(value);
      expect([bound?.home, ...(bound?.all ?? [])].every(one => one === undefined || one instanceof Nested)).toBe(true);
    });
  });

  it('a collection of text is read from the same shapes', async () => {
    class Tagged extends dto({ tags: list(string) }) {}
    const sent: readonly (readonly Field[])[] = [
      [
        ['tags', 'b'],
        ['tags', 'a'],
      ],
      [
        ['tags[1]', 'a'],
        ['tags[0]', 'b'],
      ],
      [
        ['tags[]', 'b'],
        ['tags[]', 'a'],
      ],
      [['tags', 'b,a']],
      [['tags', '["b","a"]']],
    ];
    for (const fields of sent) expect((await bind(Tagged, form(fields), urlEncoded)).dto).toEqual({ tags: ['b', 'a'] });
  });

  it.each<[string, readonly Field[], string]>([
    [
      'a scalar that is sent twice',
      [
        ['news', 'true'],
        ['news', 'true'],
      ],
      'news',
    ],
    ['malformed JSON', [['home', '{"street":']], 'home'],
    ['JSON with an invalid value', [['home', '{"street":"x","zip":"y"}']], 'home.zip'],
    ['an invalid item', [['sizes', '3,x']], 'sizes'],
  ])('%s is a failure', async (_what, fields, name) => {
    expect(await bind(Profile, form(fields), urlEncoded)).toMatchObject({
      status: 400,
      dto: undefined,
      errors: [{ name: expect.stringMatching(new RegExp(`^${name}`)) as string, in: 'form' }],
    });
  });
});

class Renamed extends dto({
  email: formField(string, { bindFrom: 'e-mail' }),
  sizes: field(list(int), { bindFrom: 'size' }),
}) {}
class DecoratedRenamed {
  @formField(string, { bindFrom: 'e-mail' }) email!: string;
  @field(list(int), { bindFrom: 'size' }) sizes!: number[];
}

it.each([
  ['dto({...})', Renamed],
  ['decorators', DecoratedRenamed],
])('bindFrom maps a differing field name to a property: %s', async (_notation, Dto) => {
  const fields: readonly Field[] = [
    ['e-mail', 'a@example.org'],
    ['email', 'b@example.org'],
    ['size[0]', '1'],
    ['size[1]', '2'],
    ['sizes', '3'],
  ];
  for (const [, form] of kinds)
    expect((await bind(Dto, form(fields), urlEncoded)).dto).toEqual({ email: 'a@example.org', sizes: [1, 2] });
});

class Author extends dto({ name: string, address: optional(Address) }) {}
class Chapter extends dto({ title: string, pages: int, tags: list(string) }) {}
class Book extends dto({
  title: string,
  author: Author,
  keywords: list(string),
  editions: list(int),
  chapters: list(Chapter),
}) {}
class Publish extends dto({ id: int, book: fromForm(Book) }) {}

class DecoratedAuthor {
  @field(string) name!: string;
  @field(optional(DecoratedAddress)) address?: DecoratedAddress;
}
class DecoratedChapter {
  @field(string) title!: string;
  @field(int) pages!: number;
  @field(list(string)) tags!: string[];
}
class DecoratedBook {
  @field(string) title!: string;
  @field(DecoratedAuthor) author!: DecoratedAuthor;
  @field(list(string)) keywords!: string[];
  @field(list(int)) editions!: number[];
  @field(list(DecoratedChapter)) chapters!: DecoratedChapter[];
}
class DecoratedPublish {
  @field(int) id!: number;
  @fromForm(DecoratedBook) book!: DecoratedBook;
}

describe.each([
  ['dto({...})', Publish, Chapter],
  ['decorators', DecoratedPublish, DecoratedChapter],
])('%s', (_notation, Dto, Nested) => {
  const nested: readonly Field[] = [
    ['Title', 'On Forms'],
    ['Author.Name', 'Ada'],
    ['Author.Address.Street', 'Ring 1'],
    ['Author.Address.Zip', '53111'],
    ['Keywords', 'b'],
    ['Keywords', 'a'],
    ['Editions[1]', '1843'],
    ['Editions[0]', '1842'],
    ['Chapters[1].Title', 'Two'],
    ['Chapters[1].Pages', '20'],
    ['Chapters[0].Title', 'One'],
    ['Chapters[0].Pages', '10'],
    ['Chapters[0].Tags', 'x'],
    ['Chapters[0].Tags', 'y'],
  ];
  const book = {
    title: 'On Forms',
    author: { name: 'Ada', address: HOME },
    keywords: ['b', 'a'],
    editions: [1842, 1843],
    chapters: [
      { title: 'One', pages: 10, tags: ['x', 'y'] },
      { title: 'Two', pages: 20, tags: [] },
    ],
  };

  it.each(kinds)(
    'a nested dto is read from repeated names for scalars, an index to fix their order, dots for one object, an index for items: %s',
    async (_kind, form) => {
      const { dto: bound } = await bind(Dto, { ...form(nested), path: '/7' }, { ...urlEncoded, route: '/:id' });
      expect(bound).toEqual({ id: 7, book });
      expect(bound?.book.chapters.every(chapter => chapter instanceof Nested)).toBe(true);
    },
  );
});

it('failures are reported under the names of the fields', async () => {
  const { errors } = await bind(
    Publish,
    {
      form: [
        ['title', 'x'],
        ['author.address.street', 'y'],
        ['chapters[0].title', 'z'],
        ['chapters[0].pages', 'many'],
      ],
      path: '/7',
    },
    { ...urlEncoded, route: '/:id' },
  );
  expect(errors.map(({ name, in: source }) => [source, name])).toEqual([
    ['form', 'author.name'],
    ['form', 'author.address.zip'],
    ['form', 'chapters[0].pages'],
  ]);
});

it('a fromForm property takes the whole form, without a prefix, and no other property binds from it', async () => {
  class Named extends dto({ title: optional(string), book: fromForm(dto({ title: string })) }) {}
  expect(
    (
      await bind(
        Named,
        {
          form: [
            ['title', 'flat'],
            ['book.title', 'prefixed'],
          ],
        },
        urlEncoded,
      )
    ).dto,
  ).toEqual({ book: { title: 'flat' } });
});

it.each<[string, () => AnyType]>([
  ['two of them', () => class Twice extends dto({ one: fromForm(Address), two: fromForm(Address) }) {}],
  ['one below the root', () => class Outer extends dto({ inner: dto({ one: fromForm(Address) }) }) {}],
  ['a scalar', () => class Scalar extends dto({ one: fromForm(string) }) {}],
])(
  'exactly one root-level property is fromForm, and it is an object: %s fails when the middleware is made',
  (_what, Dto) => {
    expect(() => bindRequest(Dto(), { allowFormData: true })).toThrow(/fromForm/);
  },
);

const png = (content: string): File => new File([content], `${content}.png`, { type: 'image/png' });
const contentOf = ({ buffer }: UploadedFile): string => buffer.toString();
const contents = (files: readonly UploadedFile[] | undefined): readonly string[] | undefined => files?.map(contentOf);

describe('files', () => {
  class Upload extends dto({ title: string, cover: file, pages: optional(list(file)) }) {}
  class DecoratedUpload {
    @formField(string) title!: string;
    @formField(file) cover!: UploadedFile;
    @formField(optional(list(file))) pages?: UploadedFile[];
  }
  const start = [
    ['title', 't'],
    ['cover', png('c')],
  ] as const;

  describe.each([
    ['dto({...})', Upload],
    ['decorators', DecoratedUpload],
  ])('%s', (_notation, Dto) => {
    it.each<[string, readonly string[]]>([
      ['repeated names', ['pages', 'pages']],
      ['empty brackets', ['pages[]', 'pages[]']],
      ['an index', ['pages[0]', 'pages[1]']],
    ])('one file and a collection of files are bound, by %s', async (_how, [first = '', second = '']) => {
      const { dto: bound } = await bind(
        Dto,
        { multipart: [...start, [first, png('a')], [second, png('b')]] },
        { allowFormData: true },
      );
      expect([bound?.title, bound && contentOf(bound.cover), contents(bound?.pages)]).toEqual(['t', 'c', ['a', 'b']]);
    });
  });

  it('one file is a collection of one; an optional collection may have none', async () => {
    expect(
      contents(
        (await bind(Upload, { multipart: [...start, ['pages', png('a')]] }, { allowFormData: true })).dto?.pages,
      ),
    ).toEqual(['a']);
    expect((await bind(Upload, { multipart: start }, { allowFormData: true })).dto?.pages).toBeUndefined();
  });

  class Car extends dto({ model: string, papers: optional(file), photos: list(file) }) {}
  class Garage extends dto({ cars: list(Car), owner: dto({ name: string, photos: list(file) }), plan: file }) {}
  class OpenGarage extends dto({ garage: fromForm(Garage) }) {}
  class DecoratedCar {
    @field(string) model!: string;
    @field(optional(file)) papers?: UploadedFile;
    @field(list(file)) photos!: UploadedFile[];
  }
  class DecoratedOwner {
    @field(string) name!: string;
    @field(list(file)) photos!: UploadedFile[];
  }
  class DecoratedGarage {
    @field(list(DecoratedCar)) cars!: DecoratedCar[];
    @field(DecoratedOwner) owner!: DecoratedOwner;
    @field(file) plan!: UploadedFile;
  }
  class DecoratedOpenGarage {
    @fromForm(DecoratedGarage) garage!: DecoratedGarage;
  }

  it.each([
    ['dto({...})', OpenGarage],
    ['decorators', DecoratedOpenGarage],
  ])('files and collections of files are bound inside nested types: %s', async (_notation, Dto) => {
    const { dto: bound } = await bind(
      Dto,
      {
        multipart: [
          ['Cars[1].Photos', png('d')],
          ['Cars[1].Model', 'two'],
          ['Cars[0].Photos', png('a')],
          ['Cars[0].Photos', png('b')],
          ['Cars[0].Model', 'one'],
          ['Cars[0].Papers', png('p')],
          ['Owner.Name', 'Ada'],
          ['Owner.Photos[1]', png('f')],
          ['Owner.Photos[0]', png('e')],
          ['Plan', png('g')],
        ],
      },
      { allowFormData: true },
    );
    const { cars, owner, plan } = bound?.garage ?? {};
    expect(cars?.map(({ model, papers, photos }) => [model, papers && contentOf(papers), contents(photos)])).toEqual([
      ['one', 'p', ['a', 'b']],
      ['two', undefined, ['d']],
    ]);
    expect([owner?.name, contents(owner?.photos), plan && contentOf(plan)]).toEqual(['Ada', ['e', 'f'], 'g']);
  });

  it.each<[string, Sent, string]>([
    [
      'text where a file is expected',
      {
        multipart: [
          ['title', 't'],
          ['cover', 'x'],
        ],
      },
      'cover',
    ],
    [
      'a file where text is expected',
      {
        multipart: [
          ['title', png('t')],
          ['cover', png('c')],
        ],
      },
      'title',
    ],
    ['two files where one is expected', { multipart: [...start, ['cover', png('d')]] }, 'cover'],
    ['no file', { multipart: [['title', 't']] }, 'cover'],
  ])('%s is a failure', async (_what, sent, name) => {
    expect(await bind(Upload, sent, { allowFormData: true })).toMatchObject({
      status: 400,
      dto: undefined,
      errors: [{ name, in: 'form' }],
    });
  });

  it('an upload comes with its bytes, name, media type and size', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const { dto: bound } = await bind(
      Upload,
      {
        multipart: [
          ['title', 't'],
          ['cover', new File([bytes], 'Über uns.bin', { type: 'application/x-thing' })],
        ],
      },
      { allowFormData: true },
    );
    expect(bound?.cover).toMatchObject({
      buffer: Buffer.from(bytes),
      originalname: 'Über uns.bin',
      mimetype: 'application/x-thing',
      size: 256,
      fieldname: 'cover',
    });
  });
});
