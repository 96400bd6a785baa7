import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import express, { type RequestHandler } from 'express';
import { idempotency, type IdempotencyOptions } from '../../../lib';
import { processorTime } from '../../support/processor-time';
import { serve } from '../../support/serve';

async function served(options: IdempotencyOptions = {}, ...before: readonly RequestHandler[]) {
  const keys: string[] = [];
  const { url } = await serve(
    express().post('/', ...before, idempotency(options), (req, res) => {
      keys.push(req.idempotency.key);
      res.end();
    }),
  );
  return { url, keys };
}

/** Sends header lines exactly as they are given; resolves to status, problem type and detail. */
async function post(
  url: string,
  ...lines: [name: string, value: string][]
): Promise<[status?: number, type?: string, detail?: string]> {
  const sent = request(url, { method: 'POST', agent: false });
  for (const [name, value] of lines) sent.appendHeader(name, value);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const { type, detail } = (text === '' ? {} : JSON.parse(text)) as { type?: string; detail?: string };
  return [response.statusCode, type?.replace('urn:bindonce:', ''), detail];
}

describe('the idempotency key', () => {
  it.each<[string, string, string]>([
    ['white space around it', '  abc\t', 'abc'],
    ['a quoted string with a wrong escape', '"a\\bc"', '"a\\bc"'],
    ['white space inside quotes', '" abc "', ' abc '],
    ['text in UTF-8 that ends with the byte A0', 'voil\u00c3\u00a0', 'voil\u00c3\u00a0'],
    ['the name of a property of every object', '__proto__', '__proto__'],
  ])('may be %s', async (_title, sent, key) => {
    const { url, keys } = await served();
    expect((await post(url, ['Idempotency-Key', sent]))[0]).toBe(200);
    expect(keys).toEqual([key]);
  });

  it.each(['abc', '"abc";a=1', '"abc";a="x;\\"y"', '"abc";a=tok/en'])(
    'is the same in quotes and as %s: parameters say nothing',
    async spelling => {
      const { url, keys } = await served();
      await post(url, ['Idempotency-Key', '"abc"']);
      await post(url, ['idempotency-key', spelling]);
      expect(keys).toEqual(['abc']);
    },
  );

  it.each(['"abc";', '"abc" ;a', '"abc";a="x', '"abc", "abc"', 'abc;a=1'])(
    '%s is not a string with parameters, and a key of its own',
    async spelling => {
      const { url, keys } = await served();
      await post(url, ['Idempotency-Key', '"abc"']);
      await post(url, ['Idempotency-Key', spelling]);
      expect(keys).toEqual(['abc', spelling]);
    },
  );

  it('of thousands of parameters is read quickly', async () => {
    const { url, keys } = await served();
    const parameters = ';a="\\"'.repeat(2_000);
    await post(url, ['Idempotency-Key', `"abc"${parameters}`]);
    expect(keys).toEqual([`"abc"${parameters}`]);
  }, 60_000);

  it('with 200,000 blanks in it takes a moment: it would take half a minute if they were read again from each blank', async () => {
    const key = `a${' '.repeat(200_000)}b`;
    // Longer than node takes from a client.
    const { url, keys } = await served({ addHeaderToResponse: false }, (req, _res, next) => {
      req.headers['idempotency-key'] = `\t ${key} \t`;
      next();
    });
    const ms = await processorTime(() => post(url));
    expect(keys).toEqual([key]);
    expect(ms).toBeLessThan(5_000);
  }, 60_000);

  it('comes in the header of the name that is given, in any case', async () => {
    const { url, keys } = await served({ headerName: 'X-Once-Only' });
    expect(await post(url, ['Idempotency-Key', 'k'])).toEqual([
      400,
      'key-missing',
      'Send the X-Once-Only header: a new value for each operation, and the same value with each retry of it.',
    ]);
    expect((await post(url, ['x-once-ONLY', 'k']))[0]).toBe(200);
    expect(keys).toEqual(['k']);
  });

  it.each([/^[0-9a-f]{8}$/, /^[0-9a-f]{8}$/g, /[0-9a-f]{8}$/y])(
    'has to match keyPattern %s, each time anew',
    async keyPattern => {
      const { url, keys } = await served({ keyPattern });
      expect(await post(url, ['Idempotency-Key', 'nothing like it'])).toEqual([
        400,
        'key-malformed',
        `The value of the Idempotency-Key header does not match the regular expression ${String(keyPattern)}.`,
      ]);
      for (const key of ['0badcafe', 'deadbeef', '0badcafe'])
        expect((await post(url, ['Idempotency-Key', `"${key}"`]))[0]).toBe(200);
      expect(keys).toEqual(['0badcafe', 'deadbeef']);
    },
  );

  it.each<[string, [string, string][], string | undefined, string]>([
    ['put on', [], 'theirs', 'theirs'],
    ['changed', [['Idempotency-Key', 'sent']], 'theirs', 'theirs'],
    ['taken away', [['Idempotency-Key', 'sent']], undefined, 'key-missing'],
  ])('is what an earlier middleware has %s in req.headers', async (_title, lines, header, expected) => {
    const { url, keys } = await served({}, (req, _res, next) => {
      req.headers['idempotency-key'] = header;
      next();
    });
    const [status, code] = await post(url, ...lines);
    expect([status, ...keys, code]).toEqual(expected === 'key-missing' ? [400, expected] : [200, expected, undefined]);
  });
});
