import type { IncomingMessage } from 'node:http';
import { bytesOfText } from '../../../lib/body/content/text-bytes';

const sentAs = (...rawHeaders: string[]): IncomingMessage => ({ rawHeaders }) as unknown as IncomingMessage;

it.each<[string, string, IncomingMessage, string | undefined]>([
  ['of as many bytes as were sent', 'é', sentAs('Content-Length', '2'), 'c3a9'],
  ['of as many bytes as were sent, but for a byte order mark', 'é', sentAs('Content-Length', '5'), 'efbbbfc3a9'],
  ['of other bytes', 'é', sentAs('content-length', '1'), undefined],
  ['of as many bytes as were sent, some of which are lost', 'a\ufffd', sentAs('Content-Length', '4'), undefined],
  ['without a length', 'é', sentAs('Transfer-Encoding', 'chunked'), undefined],
])('text %s', (_what, text, req, hex) => {
  expect(bytesOfText(text, req)?.toString('hex')).toBe(hex);
});
