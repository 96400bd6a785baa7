import type { RequestHandler } from 'express';
import { Keyv } from 'keyv';
import { z } from 'zod';
import {
  dto,
  file,
  fromForm,
  idempotency,
  list,
  optional,
  string,
  type AnyType,
  type BindingOptions,
} from '../../../lib';
import type { Sent } from '../../support/ask';
import { multipart, type Part } from '../../support/multipart';
import { bind } from '../../support/one-endpoint';
import { TemporaryDirectory } from '../../support/temporary-directory';

/** Multer drops a file without a name; HTTP clients of Java send such files. */

class Claim extends dto({
  title: string,
  scan: optional(file),
  photos: optional(list(file)),
  note: optional(string),
}) {}
class Whole extends dto({ claim: fromForm(Claim) }) {}
class Loose extends dto({ claim: fromForm(z.object({ title: z.string() })) }) {}

const OCTETS = 'application/octet-stream';
const BIG = 'x'.repeat(2_000_000);
const sentWith = (...parts: Part[]): Sent => ({
  key: 'k',
  ...multipart([{ name: 'title', value: 't' }, ...parts], 'b1'),
});

const directory = new TemporaryDirectory();
afterEach(() => directory.emptied());
afterAll(() => {
  directory.remove();
});

const onDisk: BindingOptions = { uploads: { storage: 'disk', directory: directory.path } };
const behind = (): RequestHandler[] => [idempotency({ store: new Keyv() })];
const ways: readonly (readonly [string, () => RequestHandler[], BindingOptions])[] = [
  ['in memory', () => [], {}],
  ['on disk', () => [], onDisk],
  ['in memory, behind idempotency()', behind, {}],
  ['on disk, behind idempotency()', behind, onDisk],
];

describe.each(ways)('%s', (_way, before, options) => {
  const post = (Dto: AnyType, ...parts: Part[]) =>
    bind(Dto, sentWith(...parts), { before: before(), allowFormData: true, ...options });

  it.each<[string, Part]>([
    ['without a file name', { name: 'scan', type: OCTETS, value: 'x' }],
    ['in another case', { name: 'SCAN', type: OCTETS, value: 'x' }],
    ['of 2 MB', { name: 'scan', type: OCTETS, value: BIG }],
    ['with an empty file name', { name: 'scan', filename: '', type: OCTETS, value: 'x' }],
    ['with an empty file name and 2 MB', { name: 'scan', filename: '', type: OCTETS, value: BIG }],
    ['whose file name is that of a folder', { name: 'scan', filename: 'a/', type: 'image/png', value: 'x' }],
    ['whose file name is two dots', { name: 'scan', filename: '..', type: 'application/json', value: '{}' }],
    ['of a list', { name: 'photos[0]', type: OCTETS, value: 'x' }],
    ['that is text', { name: 'note', type: OCTETS, value: 'x' }],
  ])('a part that is sent as a file is refused, not lost: one %s', async (_what, part) => {
    const photo: Part = { name: 'photos', filename: 'a.png', value: 'x' };
    for (const Dto of [Claim, Whole, Loose]) {
      const { status, problem } = await post(Dto, photo, part, photo);
      expect([status, problem?.type, problem?.detail]).toEqual([
        400,
        'urn:bindonce:body-malformed',
        `In the multipart form, the part "${part.name}" has content and no file name. With a file, send filename="…"; ` +
          'send text without the type application/octet-stream.',
      ]);
    }
  });

  it.each<[string, Part]>([
    ['under a name that is not declared', { name: 'other', type: OCTETS, value: 'x' }],
    ['of 2 MB under a name that is not declared', { name: 'other', type: OCTETS, value: BIG }],
    ['without content', { name: 'scan', type: OCTETS, value: '' }],
    ['without content, with an empty file name', { name: 'scan', filename: '', type: OCTETS, value: '' }],
  ])('it is ignored %s', async (_what, part) => {
    expect((await post(Claim, part)).dto).toEqual({ title: 't' });
    expect((await post(Whole, part)).dto).toEqual({ claim: { title: 't' } });
  });
});
