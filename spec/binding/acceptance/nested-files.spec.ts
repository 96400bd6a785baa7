import express from 'express';
import { readFileSync } from 'node:fs';
import {
  bindRequest,
  dto,
  field,
  file,
  fromForm,
  int,
  list,
  optional,
  string,
  type BindingOptions,
  type UploadedFile,
} from '../../../lib';
import { TemporaryDirectory } from '../../support/temporary-directory';
import { expressVersions } from '../../support/express-versions';
import { ask, type Sent } from '../../support/ask';
import { bind } from '../../support/one-endpoint';

class Car extends dto({
  make: optional(string),
  papers: optional(file),
  photos: list(file),
  scans: optional(list(file)),
}) {}
class Garage extends dto({
  name: optional(string),
  logo: optional(file),
  gallery: list(file),
  main: optional(Car),
  cars: list(Car),
  size: optional(int),
  tags: list(string),
}) {}
class Upload extends dto({ garage: fromForm(Garage) }) {}

const image = (name: string): File => new File([`bytes of ${name}`], name, { type: 'image/png' });
/** `Cars[1].Photos=b` as a file b, `name:x` as the text x. */
const form = (...entries: string[]): Sent => ({
  multipart: entries.map(entry => {
    const [, name = '', kind, value = ''] = /^(.*?)([=:])(.*)$/.exec(entry) ?? [];
    return [name, kind === '=' ? image(value) : value] as const;
  }),
});
const multipart: BindingOptions = { allowFormData: true };

/** What was bound, with the names of files in place of the files. */
function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== 'object' || value === null) return value;
  return 'originalname' in value
    ? value.originalname
    : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one)]));
}
const garage = (part: object = {}): object => ({ cars: [], gallery: [], tags: [], ...part });

describe.each(expressVersions)('%s', (_name, framework) => {
  it.each<[string, string[], object]>([
    [
      'files of items come in index order, whatever order was sent',
      ['Cars[1].Photos=c', 'Cars[0].Photos=a', 'Cars[1].Photos=d', 'Cars[0].Photos=b'],
      { cars: [{ photos: ['a', 'b'] }, { photos: ['c', 'd'] }] },
    ],
    [
      'files with an index of their own, too',
      ['Cars[1].Photos[1]=d', 'Cars[1].Photos[0]=c', 'Cars[0].Photos[7]=b', 'Cars[0].Photos[3]=a'],
      { cars: [{ photos: ['a', 'b'] }, { photos: ['c', 'd'] }] },
    ],
    [
      'values and files of one item meet',
      ['cars[12].photos=b', 'cars[2].make:Saab', 'cars[12].make:Volvo', 'cars[2].papers=a'],
      {
        cars: [
          { make: 'Saab', papers: 'a', photos: [] },
          { make: 'Volvo', photos: ['b'] },
        ],
      },
    ],
  ])('%s', async (_fact, entries, value) => {
    expect(named((await bind(Upload, form(...entries), { framework, ...multipart })).dto)).toEqual({
      garage: garage(value),
    });
  });
});

it.each<[string, string[], object]>([
  ['one file by its exact name', ['LOGO=a'], { logo: 'a' }],
  ['one file has no index', ['logo[]=a', 'logo[0]=b', 'logo.x=c'], {}],
  ['files by repeated names', ['gallery=b', 'Gallery=a'], { gallery: ['b', 'a'] }],
  ['files by names with empty brackets', ['gallery[]=b', 'gallery[]=a'], { gallery: ['b', 'a'] }],
  ['files by index, gaps closed up', ['gallery[10]=b', 'gallery[2]=a'], { gallery: ['a', 'b'] }],
  [
    'files by names in brackets',
    ['cars[1][photos][1]=c', 'cars[1][photos][0]=b', 'cars[0][photos][]=a'],
    { cars: [{ photos: ['a'] }, { photos: ['b', 'c'] }] },
  ],
  ['a file makes the object that it stands in', ['main.papers=a'], { main: { papers: 'a', photos: [] } }],
  [
    'files that nobody declared are left aside',
    ['other=a', 'main.other=b', 'cars[3].other=c', 'garage.logo=d'],
    { cars: [{ photos: [] }] },
  ],
  [
    'empty text for a file that may be missing is nothing',
    ['logo:', 'main.papers:', 'main.scans:'],
    { main: { photos: [] } },
  ],
  [
    'JSON text and files: an item of names wins over its text',
    ['cars[0].photos=a', 'cars[0]:{"make":"x","photos":[]}'],
    { cars: [{ photos: ['a'] }] },
  ],
  [
    'names that JavaScript objects know',
    ['main.__proto__.polluted=a', '__proto__[polluted]=b', 'cars[0].constructor.prototype=c'],
    { cars: [{ photos: [] }] },
  ],
])('%s', async (_fact, entries, value) => {
  const { dto: bound } = await bind(Upload, form(...entries), multipart);
  expect(named(bound)).toEqual({ garage: garage(value) });
  expect('polluted' in {}).toBe(false);
});

it.each<[string, string[], [name: string, detail: string][]]>([
  [
    'a file for a value',
    ['cars[2].make=a', 'size=b', 'name=c'],
    [
      ['name', 'Send text here, not a file.'],
      ['cars[2].make', 'Send text here, not a file.'],
      ['size', 'Send text here, not a file.'],
    ],
  ],
  ['a file among values', ['tags:a', 'tags=b'], [['tags[1]', 'Send text here, not a file.']]],
  ['text among files', ['gallery=a', 'gallery:b', 'gallery=c'], [['gallery[0]', 'A file is expected.']]],
  ['a file for an object', ['main=a'], [['main', 'Send text here, not a file.']]],
  ['a file for an object, beside its names', ['main=a', 'main.make:x'], [['main', 'Send text here, not a file.']]],
  ['a file for an item', ['cars[3]=a', 'cars[4].make:x'], [['cars[3]', 'Send text here, not a file.']]],
  [
    'a value for a file',
    ['logo:a', 'cars[2].papers:b', 'gallery:c'],
    [
      ['logo', 'A file is expected.'],
      ['gallery', 'A file is expected.'],
      ['cars[2].papers', 'A file is expected.'],
    ],
  ],
  [
    'a value for a file in JSON text',
    ['main:{"papers":{"path":"/etc/passwd"},"photos":["/etc/passwd"]}'],
    [
      ['main.papers', 'A file is expected.'],
      ['main.photos[0]', 'A file is expected.'],
    ],
  ],
  [
    'two files for one',
    ['cars[2].papers=a', 'CARS[2].papers=b'],
    [['cars[2].papers', 'There are 2 files where one is expected.']],
  ],
  [
    'an index that is too high',
    ['cars[4294967294].photos=a', 'gallery[4294967294]=b'],
    [
      ['gallery', 'The index 4294967294 is too high; 10000 items are allowed.'],
      ['cars', 'The index 4294967294 is too high; 10000 items are allowed.'],
    ],
  ],
])('refused: %s', async (_what, entries, failures) => {
  const { status, errors } = await bind(Upload, form(...entries), multipart);
  expect([status, errors.map(({ name, in: source, detail }) => [name, source, detail])]).toEqual([
    400,
    failures.map(([name, detail]) => [name, 'form', detail]),
  ]);
});

it('files are bound from names with dots and brackets in bindFrom', async () => {
  class Claim extends dto({
    photos: field(list(file), { bindFrom: 'photos[]' }),
    cover: field(file, { bindFrom: 'cover.image' }),
  }) {}
  class Send extends dto({ claim: fromForm(Claim) }) {}
  const sent = form('Photos[]=a', 'photos[]=b', 'cover[image]=c', 'cover.other=d');
  expect(named((await bind(Send, sent, multipart)).dto)).toEqual({ claim: { photos: ['a', 'b'], cover: 'c' } });
  expect(named((await bind(Claim, sent, multipart)).dto)).toEqual({ photos: ['a', 'b'], cover: 'c' });
});

describe('on disk', () => {
  const directory = new TemporaryDirectory();
  const onDisk: BindingOptions = { ...multipart, uploads: { storage: 'disk', directory: directory.path } };
  afterEach(() => directory.emptied());
  afterAll(() => directory.remove());
  const contents = (files: readonly UploadedFile[]): string[] => files.map(({ path }) => readFileSync(path, 'utf8'));

  it('nested files are there while the handler runs, in index order, without undeclared ones, and gone after the response', async () => {
    const app = express().post('/', bindRequest(Upload, onDisk), (req, res) => {
      res.json([directory.files.length, ...req.dto.garage.cars.map(({ photos }) => contents(photos))]);
    });
    const { body } = await ask(app, form('Cars[1].Photos=b', 'Cars[0].Photos=a', 'Cars[1].Photos=c', 'other=d'));
    expect(body).toEqual([3, ['bytes of a'], ['bytes of b', 'bytes of c']]);
  });
});
