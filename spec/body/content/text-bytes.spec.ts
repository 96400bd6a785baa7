import type { IncomingMessage } from 'node:http';
import { bytesOfText } from '../../../lib/body/content/text-bytes';

const sentAs = (name: string, value: string, headers = {}): IncomingMessage =>
  ({ rawHeaders: [name, value], headers }) as unknown as IncomingMessage;
const chunked = (headers = {}): IncomingMessage => sentAs('Transfer-Encoding', 'chunked', headers);

it.each<[string, string, IncomingMessage, string | undefined]>([
  ['of as many bytes as were sent', 'é', sentAs('Content-Length', '2'), 'c3a9'],
  ['of as many bytes as were sent, but for a byte order mark', 'é', sentAs('Content-Length', '5'), 'efbbbfc3a9'],
  ['of other bytes', 'é', sentAs('content-length', '1'), undefined],
  ['of as many bytes as were sent, some of which are lost', 'a\ufffd', sentAs('Content-Length', '4'), undefined],
  ['of as many bytes as were sent, with half a character', '\ud800', sentAs('Content-Length', '3'), undefined],
  ['without a length', 'é€', chunked(), 'c3a9e282ac'],
  ['without a length, in UTF-8', 'é', chunked({ 'content-type': 'text/plain; charset=UTF-8' }), 'c3a9'],
  ['without a length, some bytes of which are lost', 'a\ufffd', chunked(), undefined],
  ['without a length, in another charset', 'a', chunked({ 'content-type': 'text/plain; charset=utf-16' }), undefined],
  ['without a length, sent compressed', 'a', chunked({ 'content-encoding': 'gzip' }), undefined],
  ['without a length, whose UTF-8 was read as Latin-1', 'Ã©', chunked(), undefined],
  ['without a length, not of UTF-8 that was read as Latin-1', 'é', chunked(), 'c3a9'],
])('text %s', (_what, text, req, hex) => {
  expect(bytesOfText(text, req)?.toString('hex')).toBe(hex);
});
