import { buffer } from 'node:stream/consumers';
import { plainBoundaries } from '../../../lib/body/content/boundaries';

/** What is left of a form that arrives in pieces of some size. */
async function plain(form: string, size: number): Promise<string> {
  const bytes = Buffer.from(form, 'latin1');
  return (
    await buffer(
      plainBoundaries(
        (async function* pieces() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        })(),
        'b1',
      ),
    )
  ).toString('latin1');
}

const head = 'Content-Disposition: form-data; name="a"\r\n\r\n';

describe.each([1, 2, 3, 5, 7, 64, 10_000])('a form that arrives in pieces of %d bytes', size => {
  it.each<[string, string, string]>([
    ['as it is', `--b1\r\n${head}1\r\n--b1\r\n${head}2\r\n--b1--`, `--b1\r\n${head}1\r\n--b1\r\n${head}2\r\n--b1--`],
    [
      'with blanks behind its boundaries',
      `--b1 \t \r\n${head}1\r\n--b1${' '.repeat(1_000)}\r\n${head}2\r\n--b1--`,
      `--b1\r\n${head}1\r\n--b1\r\n${head}2\r\n--b1--`,
    ],
    [
      'with text before the first boundary',
      `preamble\r\n--b1\r\n${head}1\r\n--b1--`,
      `preamble\r\n--b1\r\n${head}1\r\n--b1--`,
    ],
    [
      'with what looks like a boundary',
      `--b1\r\n${head}-\r\n-\r\n--\r\n--b\r\n\r\n--b1--`,
      `--b1\r\n${head}-\r\n-\r\n--\r\n--b\r\n\r\n--b1--`,
    ],
    [
      'without what follows the last boundary',
      `--b1\r\n${head}1\r\n--b1--\r\nepilogue\r\n--b \r\n`,
      `--b1\r\n${head}1\r\n--b1--`,
    ],
    [
      'with all fields that busboy keeps',
      `--b1\r\n${'a:\r\n'.repeat(1_998)}${head}1\r\n--b1--`,
      `--b1\r\n${'a:\r\n'.repeat(1_998)}${head}1\r\n--b1--`,
    ],
    ['with blanks in its values', `--b1\r\n${head} 1 \r\n--b1--`, `--b1\r\n${head} 1 \r\n--b1--`],
  ])('is read %s', async (_how, form, expected) => {
    expect(await plain(form, size)).toBe(`\r\n${expected}`);
  });

  it.each<[string, string]>([
    ['text behind a boundary', `--b1\r\n${head}1\r\n--b1x\r\n${head}2\r\n--b1--`],
    ['blanks and text behind a boundary', `--b1 x\r\n${head}1\r\n--b1--`],
    ['a line feed alone behind a boundary', `--b1\n${head}1\r\n--b1--`],
    ['one dash behind a boundary', `--b1-\r\n${head}1\r\n--b1--`],
    ['blanks before the dashes of the last boundary', `--b1\r\n${head}1\r\n--b1 --`],
    ['1,001 blanks behind a boundary', `--b1${' '.repeat(1_001)}\r\n${head}1\r\n--b1--`],
    ['a part behind its last boundary', `--b1\r\n${head}1\r\n--b1--\r\nepilogue\r\n--b1\r\n${head}2\r\n--b1--`],
    ['no last boundary', `--b1\r\n${head}1\r\n--b1\r\n`],
    [
      'a boundary in the head of a part',
      `--b1\r\nContent-Disposition: form-data; name="a"\r\n--b1\r\n${head}2\r\n--b1--`,
    ],
    ['a part without a body', `--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n--b1\r\n${head}2\r\n--b1--`],
    ['the last boundary in a head', `--b1\r\nContent-Disposition: form-data; name="a"\r\n\r\n--b1--`],
    ['a part that busboy would skip', `--b1\r\n${head}1\r\n--b1\r\nContent-Type: text/plain\r\n\r\n2\r\n--b1--`],
    ['a head of more than 16 KiB', `--b1\r\na: ${'x'.repeat(16_384)}\r\n${head}1\r\n--b1--`],
    ['a head of which busboy drops the end', `--b1\r\n${'a:\r\n'.repeat(1_999)}${head}1\r\n--b1--`],
    ['half a last boundary', `--b1\r\n${head}1\r\n--b1-`],
    ['nothing', ''],
  ])('and has %s is refused with 400', async (_what, form) => {
    await expect(plain(form, size)).rejects.toMatchObject({ status: 400, code: 'body-malformed' });
  });
});
