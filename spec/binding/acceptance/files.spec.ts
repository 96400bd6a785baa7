import express from 'express';
import { readFileSync } from 'node:fs';
import { bindRequest, dto, field, file, fromForm, int, list, optional, string } from '../../../lib';
import type { BindingOptions, UploadedFile } from '../../../lib';
import { ask, type Sent } from '../../support/ask';
import { expressVersions } from '../../support/express-versions';
import { outcome } from '../../support/one-endpoint';
import { TemporaryDirectory } from '../../support/temporary-directory';

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
const form = (text: string): Sent => ({
  multipart: text.split(' ').map(entry => {
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

it.each<[string, string, object]>([
  ['one by its exact name', 'LOGO=a', { logo: 'a' }],
  ['one has no index', 'logo[]=a logo[0]=b logo.x=c', {}],
  ['repeated names', 'gallery=b Gallery=a', { gallery: ['b', 'a'] }],
  ['one of a collection', 'gallery=b', { gallery: ['b'] }],
  ['names with empty brackets', 'gallery[]=b gallery[]=a', { gallery: ['b', 'a'] }],
  ['an index, gaps closed up', 'gallery[10]=b gallery[2]=a', { gallery: ['a', 'b'] }],
  [
    'items in index order, whatever order was sent',
    'Cars[1].Photos=c Cars[0].Photos=a Cars[1].Photos=d Cars[0].Photos=b',
    { cars: [{ photos: ['a', 'b'] }, { photos: ['c', 'd'] }] },
  ],
  [
    'values and files of one item meet',
    'cars[12].photos=b cars[2].make:Saab cars[2].papers=a',
    { cars: [{ make: 'Saab', papers: 'a', photos: [] }, { photos: ['b'] }] },
  ],
  ['a file makes the object that it stands in', 'main.papers=a', { main: { papers: 'a', photos: [] } }],
  ['others are left aside', 'other=a main.other=b cars[3].other=c garage.logo=d', { cars: [{ photos: [] }] }],
  ['empty text is no file', 'logo: main.papers: main.scans:', { main: { photos: [] } }],
  ['names win over JSON text', 'cars[0].photos=a cars[0]:{"make":"x","photos":[]}', { cars: [{ photos: ['a'] }] }],
  [
    'names of objects',
    'main.__proto__.polluted=a __proto__[polluted]=b cars[0].constructor=c',
    { cars: [{ photos: [] }] },
  ],
])('files are bound: %s', async (_fact, text, value) => {
  const bound = { garage: { cars: [], gallery: [], tags: [], ...value } };
  for (const [, framework] of expressVersions)
    expect(named(await outcome(Upload, form(text), { framework, ...multipart }))).toEqual(bound);
  expect('polluted' in {}).toBe(false);
});

const TEXT = 'Send text here, not a file.';
const FILE = 'A file is expected.';
it.each<[string, Record<string, string>]>([
  ['cars[2].make=a size=b name=c', { name: TEXT, 'cars[2].make': TEXT, size: TEXT }],
  ['tags:a tags=b', { 'tags[1]': TEXT }],
  ['gallery=a gallery:b gallery=c', { 'gallery[0]': FILE }],
  ['main=a', { main: TEXT }],
  ['main=a main.make:x', { main: TEXT }],
  ['cars[3]=a cars[4].make:x', { 'cars[3]': TEXT }],
  ['logo:a cars[2].papers:b gallery:c', { logo: FILE, gallery: FILE, 'cars[2].papers': FILE }],
  ['main:{"papers":{"path":"/etc/passwd"},"photos":["/etc"]}', { 'main.papers': FILE, 'main.photos[0]': FILE }],
  ['cars[2].papers=a CARS[2].papers=b', { 'cars[2].papers': 'There are 2 files where one is expected.' }],
  ['gallery[4294967294]=b', { gallery: 'The index 4294967294 is too high; 10000 items are allowed.' }],
  ['cars[4294967294].photos=a', { cars: 'The index 4294967294 is too high; 10000 items are allowed.' }],
])('refused: %s', async (text, expected) => {
  const listed = Object.entries(expected).map(([name, detail]) => `form ${name}: ${detail}`);
  expect(await outcome(Upload, form(text), multipart)).toEqual(listed);
});

it('files are bound from names with dots and brackets in bindFrom', async () => {
  class Claim extends dto({
    photos: field(list(file), { bindFrom: 'photos[]' }),
    cover: field(file, { bindFrom: 'cover.image' }),
  }) {}
  const sent = form('Photos[]=a photos[]=b cover[image]=c cover.other=d');
  const bound = { photos: ['a', 'b'], cover: 'c' };
  expect(named(await outcome(dto({ claim: fromForm(Claim) }), sent, multipart))).toEqual({ claim: bound });
  expect(named(await outcome(Claim, sent, multipart))).toEqual(bound);
});

it('on disk, nested files are there while the handler runs, without undeclared ones, and gone after the response', async () => {
  const directory = new TemporaryDirectory();
  const onDisk: BindingOptions = { ...multipart, uploads: { storage: 'disk', directory: directory.path } };
  const contents = (files: readonly UploadedFile[]): string[] => files.map(({ path }) => readFileSync(path, 'utf8'));
  const app = express().post('/', bindRequest(Upload, onDisk), (req, res) => {
    res.json([directory.files.length, ...req.dto.garage.cars.map(({ photos }) => contents(photos))]);
  });
  const { body } = await ask(app, form('Cars[1].Photos=b Cars[0].Photos=a Cars[1].Photos=c other=d'));
  expect(body).toEqual([3, ['bytes of a'], ['bytes of b', 'bytes of c']]);
  await directory.emptied();
  directory.remove();
});

it('a file that has not been chosen in a browser is a missing one', async () => {
  const head = '--x\r\nContent-Disposition: form-data; name="logo"; filename=""\r\n';
  const body = `${head}Content-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n`;
  const headers = { 'Content-Type': 'multipart/form-data; boundary=x' };
  expect(await outcome(dto({ logo: optional(file) }), { headers, body }, multipart)).toEqual({});
});

it.each<Sent>([{ json: { logo: { path: '/etc/passwd' } } }, { path: '/x?logo=/etc/passwd' }, { form: 'logo=/etc' }])(
  'a file is set from an upload only: not by %j',
  async sent => {
    const bound = await outcome(dto({ logo: optional(file), note: optional(string) }), sent, { route: '/{:logo}' });
    expect(bound).not.toHaveProperty('logo');
  },
);
