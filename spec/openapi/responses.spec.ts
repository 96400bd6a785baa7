import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  file,
  fromHeader,
  hasPermission,
  idempotency,
  int,
  queryParam,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../lib';
import { documentOf, type Operation } from '../support/described';

describe('openapi() lists the refusals', () => {
  const refusals = async (Dto: AnyType, options: BindingOptions, guard?: IdempotencyOptions): Promise<string[]> => {
    const app = express();
    app.post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));
    const { paths } = documentOf(app);
    return Object.keys((paths['/']?.['post'] as Operation).responses).filter(status => /^[45]\d\d$/.test(status));
  };

  it.each<[string, AnyType, BindingOptions, IdempotencyOptions | undefined, string[]]>([
    ['of a dto without a body', dto({ a: fromHeader(string) }), {}, undefined, ['400']],
    ['of a query', dto({ a: queryParam(string) }), {}, undefined, ['400', '414']],
    ['of a body', dto({ a: int }), {}, undefined, ['400', '413', '415', '503']],
    [
      'of a body that the server always has memory for',
      dto({ a: int }),
      { limits: { bodyBytes: 65_536 } },
      undefined,
      ['400', '413', '415'],
    ],
    [
      'of a body that may be stored on disk',
      dto({ a: int }),
      { limits: { bodyBytes: 1_048_577 } },
      undefined,
      ['400', '413', '415', '503', '507'],
    ],
    ['of an upload', dto({ a: file }), { allowFormData: true }, undefined, ['400', '413', '415', '503', '507']],
    ['of callers', dto({ a: hasPermission('x') }), { allowAnonymous: false }, undefined, ['400', '401']],
    ['of an idempotent endpoint', dto({ a: fromHeader(string) }), {}, {}, ['400', '409', '413', '503', '507']],
    [
      'of a reused key, without reading the body',
      dto({ a: fromHeader(string) }),
      {},
      { whenKeyReused: 'reject', ignoreRequestBody: true },
      ['400', '409', '422', '503'],
    ],
    [
      'of a body that only the endpoint reads',
      dto({ a: int }),
      {},
      { ignoreRequestBody: true },
      ['400', '409', '413', '415', '503'],
    ],
  ])('%s', async (_what, Dto, options, guard, expected) => {
    expect(await refusals(Dto, options, guard)).toEqual(expected);
  });

  const ok: RequestHandler = (_req, res) => void res.end();

  it('of a guard alone, which reads the body where a request has one', () => {
    const app = express();
    app.route('/').all(idempotency()).get(ok).post(ok);
    const { get, post, ...others } = documentOf(app).paths['/'] as Record<string, Operation>;
    expect(others).toEqual({});
    expect(Object.keys(get?.responses ?? {})).toEqual(['400', '409', '503', '2XX']);
    expect(Object.keys(post?.responses ?? {})).toEqual(['400', '409', '413', '503', '507', '2XX']);
  });
});
