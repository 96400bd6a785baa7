import { dto, file, optional, string } from '../../../lib';
import { bind } from '../../support/one-endpoint';
const form = { allowFormData: true };

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
