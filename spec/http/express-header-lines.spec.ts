import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { headerLines } from '../../lib/http/express';
import { serve } from '../support/serve';

/** The lines of a header as they are sent, and as they are read once a middleware has been at `req.headers`. */
async function readBack(
  name: string,
  sent: readonly string[],
  change: (headers: IncomingHttpHeaders) => void = () => undefined,
): Promise<readonly string[] | undefined> {
  let lines: readonly string[] | undefined;
  const { url } = await serve((req, res) => {
    change(req.headers);
    lines = headerLines(name.toLowerCase(), req);
    res.end();
  });
  const asked = request(url, { method: 'POST', agent: false });
  for (const value of sent) asked.appendHeader(name, value);
  asked.end();
  await once(asked, 'response');
  return lines;
}

describe('the lines of a header', () => {
  it.each<[string, string, string[]]>([
    ['one', 'X-A', ['a']],
    ['one with a comma', 'X-A', ['a, b']],
    ['an empty one', 'X-A', ['']],
    ['several', 'X-A', ['a', 'b, c', 'a']],
    ['several of which node joins no two', 'Set-Cookie', ['a=1', 'b=2']],
    ['several of which node keeps the first only', 'From', ['a', 'b']],
    ['one called like a property of every object', 'constructor', ['a']],
  ])('are those that were sent: %s', async (_title, name, sent) => {
    expect(await readBack(name, sent)).toEqual(sent);
  });

  it('are none when it was not sent', async () => {
    expect(await readBack('X-A', [])).toBeUndefined();
  });

  it.each<[string, string[], string | string[] | undefined, string[] | undefined]>([
    ['put on', [], 'theirs', ['theirs']],
    ['put on as a list', [], ['a', 'b'], ['a', 'b']],
    ['changed', ['a'], 'theirs', ['theirs']],
    ['changed to a list', ['a'], ['b', 'c'], ['b', 'c']],
    ['taken away', ['a'], undefined, undefined],
    ['emptied', ['a'], '', ['']],
    ['left as it was', ['a', 'b'], 'a, b', ['a', 'b']],
  ])('are what a middleware has %s', async (_title, sent, changed, expected) => {
    expect(
      await readBack('X-A', sent, headers => {
        headers['x-a'] = changed;
      }),
    ).toEqual(expected);
  });
});
