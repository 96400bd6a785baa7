import { Readable } from 'node:stream';
import fc from 'fast-check';
import multer from 'multer';
import { isReadable } from '../../../lib/body/content/disposition';

/** What busboy makes of one part: with some heads, it refuses the form. */
type Outcome = 'announced' | 'skipped' | 'refused';

function outcomeOf(head: string): Promise<Outcome> {
  const body = Buffer.from(`--b1${head}\r\n\r\nx\r\n--b1--\r\n`, 'latin1');
  const headers = { 'content-type': 'multipart/form-data; boundary=b1', 'transfer-encoding': 'chunked' };
  const request = Object.assign(Readable.from([body]), { headers });
  return new Promise(resolve => {
    let outcome: Outcome = 'skipped';
    const options: multer.Options & { streamHandler: (request: Readable, busboy: NodeJS.WritableStream) => void } = {
      defParamCharset: 'utf8',
      streamHandler: (source, busboy) => {
        for (const event of ['file', 'field'])
          busboy.on(event, () => {
            outcome = 'announced';
          });
        source.pipe(busboy);
      },
    };
    multer(options).any()(
      request as unknown as Parameters<ReturnType<multer.Multer['any']>>[0],
      undefined as never,
      (error?: unknown) => {
        resolve(error && outcome === 'skipped' ? 'refused' : outcome);
      },
    );
  });
}

const fragments = fc.constantFrom(
  ...['form-data', 'attachment', '; name="a"', '; name=a', '; filename="f.txt"', "; filename*=utf-8''%e2%82%ac.txt"],
  ...[
    ';',
    ';;',
    ' ',
    '\t',
    '=',
    '"',
    '\\',
    '\\"',
    '\\\\',
    "'",
    '*',
    '*=',
    '%',
    '%22',
    '%4',
    '(1)',
    ',',
    '/',
    '@',
    '{}',
  ],
  ...['a', 'F', 'é', '\xff', '\r\n ', '\r\n\t', "utf-8'en'", "''", "klingon''x", "utf16le''x", "LATIN1''%e4", "ucs2''"],
  ...[
    "iso8859-1''a",
    "x-cp1252''%e4",
    "us-ascii''a",
    "base64''aa",
    "koi8-r''%e4",
    "klingon''",
    '\r\nContent-Type: a/b',
    '\r\nContent-Disposition: form-data; name=b',
  ],
);
const heads = fc
  .tuple(
    fc.constantFrom('\r\nContent-Disposition: ', '\r\nCONTENT-DISPOSITION:', '\r\na: b\r\ncontent-disposition:\t'),
    fc.constantFrom('form-data', 'form-data', 'Form-Data; name="a"', 'form-data; name="a"; filename', ''),
    fc.array(fragments, { maxLength: 7 }),
  )
  .map(([name, start, more]) => `${name}${start}${more.join('')}`);

describe('the head of a part', () => {
  it('is readable if busboy announces the part, and is not if busboy skips it', async () => {
    const seen = new Set<Outcome>();
    await fc.assert(
      fc.asyncProperty(heads, async head => {
        const outcome = await outcomeOf(head);
        seen.add(outcome);
        if (outcome !== 'refused') expect([head, isReadable(head)]).toEqual([head, outcome === 'announced']);
      }),
      { numRuns: 3_000 },
    );
    expect([...seen]).toEqual(expect.arrayContaining(['announced', 'skipped']));
  });

  const disposition = (value: string): string => `\r\nContent-Disposition: ${value}`;

  it.each<[string, string]>([
    ['a name', disposition('form-data; name="a"')],
    ['a token as name', disposition('form-data;name=a')],
    ['a file name with an escaped quotation mark', disposition('form-data; name="a"; filename="a \\"b\\".pdf"')],
    ['the escape of browsers', disposition('form-data; name="a"; filename="a %22b%22.pdf"')],
    ['the path of an old browser', disposition('form-data; name="a"; filename="C:\\dir\\a.pdf"')],
    ['no chosen file', disposition('form-data; name="a"; filename=""')],
    ['an extended name', disposition('form-data; name="a"; filename*=UTF-8\'\'%e2%82%ac%20rates.pdf')],
    ['two names', disposition('form-data; name="a"; filename="a.pdf"; filename*=iso-8859-1\'en\'%A3.pdf')],
    ['an encoded word (RFC 2047)', disposition('form-data; name="a"; filename="=?UTF-8?Q?=E2=82=AC.pdf?="')],
    ['bytes beyond ASCII', disposition('form-data; name="a"; filename="\xe2\x82\xac.pdf"')],
    ['other parameters', disposition('form-data; name="a"; filename="a.pdf"; size=3; creation-date="now"')],
    ['a list of files', `${disposition('form-data; name="a"')}\r\nContent-Type: multipart/mixed; boundary=b2`],
    ['other fields', `\r\nContent-Type: text/plain${disposition('form-data; name="a"')}\r\nContent-Length: 1`],
    ['a name in any case', '\r\nCONTENT-disposition:Form-Data; NAME="a"'],
    ['a second line', disposition('form-data;\r\n name="a"')],
    ['a blank at its end', disposition('form-data; name="a" ')],
    ['no name, which is refused elsewhere', disposition('form-data')],
  ])('is readable with %s', async (_what, head) => {
    expect([isReadable(head), await outcomeOf(head)]).toEqual([true, 'announced']);
  });

  it.each<[string, string]>([
    ['a quotation mark', disposition('form-data; name="a"; filename="a "b" c.pdf"')],
    ['a blank in a token', disposition('form-data; name="a"; filename=my file.pdf')],
    ['brackets in a token', disposition('form-data; name=a; filename=a(1).pdf')],
    ['a backslash before the last quotation mark', disposition('form-data; name="a"; filename="C:\\dir\\"')],
    ['a quotation mark that is not closed', disposition('form-data; name="a')],
    ['a semicolon at its end', disposition('form-data; name="a"; filename="a.pdf";')],
    ['blanks around an equals sign', disposition('form-data; name = "a"')],
    ['a parameter without a value', disposition('form-data; name="a"; size')],
    ['a comma for a semicolon', disposition('form-data; name="a", filename="a.pdf"')],
    ['a token beyond ASCII', disposition('form-data; name=\xc3\xa9')],
    ['a blank in an extended name', disposition('form-data; name="a"; filename*=UTF-8\'\'a b.pdf')],
    ['an extended name without a language', disposition('form-data; name="a"; filename*=utf-8\'%E2%82%AC.pdf')],
    ['a charset that busboy does not decode', disposition('form-data; name="a"; filename*=koi8-r\'\'%e4.pdf')],
    ['an unknown charset', disposition('form-data; name="a"; filename*=klingon\'\'a.pdf')],
    ['an empty charset', disposition('form-data; name="a"; filename*=\'\'a.pdf')],
    ['a fold before its value', '\r\nContent-Disposition:\r\n form-data; name="a"'],
    ['another disposition', disposition('attachment; name="a"')],
    ['nothing in it', disposition('')],
    ['another one before it', `${disposition('inline')}${disposition('form-data; name="a"')}`],
    ['nothing but a type', '\r\nContent-Type: text/plain'],
  ])('is not readable with %s', async (_what, head) => {
    expect([isReadable(head), await outcomeOf(head)]).toEqual([false, 'skipped']);
  });
});
