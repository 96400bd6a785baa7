import express, { type RequestHandler } from 'express';
import {
  bindRequest,
  dto,
  hasPermission,
  idempotency,
  int,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
} from '../../lib';
import { documentOf, type Operation } from '../support/described';

const ok: RequestHandler = (_req, res) => void res.json(null);
const responsesIn = (app: express.Express, method = 'post'): Operation['responses'] =>
  (Object.values(documentOf(app).paths)[0]?.[method] as Operation).responses;

it.each<[string, AnyType, BindingOptions, IdempotencyOptions | undefined, string[]]>([
  ['of a dto', dto({ a: int }), {}, undefined, ['200', '400', 'default']],
  [
    'of callers',
    dto({ a: hasPermission('x') }),
    { allowAnonymous: false },
    undefined,
    ['200', '400', '401', 'default'],
  ],
  ['of a key', dto({ a: int }), { responses: { 201: string } }, {}, ['201', '400', '409', 'default']],
  ['of a reused key', dto({ a: int }), {}, { whenKeyReused: 'reject' }, ['200', '400', '409', '422', 'default']],
  [
    'that are declared, too',
    dto({ a: int }),
    { responses: { 413: string } },
    {},
    ['200', '400', '409', '413', 'default'],
  ],
])('openapi() lists the refusals %s, after the success', (_what, Dto, options, guard, expected) => {
  const app = express();
  app.post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));
  const responses = responsesIn(app);
  expect(Object.keys(responses)).toEqual(expected);
  for (const status of ['400', '413', 'default'].filter(one => expected.includes(one)))
    expect(responses[status]?.content).toHaveProperty(['application/problem+json']);
  expect(responses['default']).toMatchObject({
    description: expect.stringMatching(/413 .*, 414 .*, 415 .*, 503 .*, 507 /),
    headers: { 'Retry-After': {} },
  });
});

it('openapi() lists the refusals of a guard alone, and none of a route without our middlewares', () => {
  const guarded = express().get('/', idempotency(), ok);
  expect(Object.keys(responsesIn(guarded, 'get'))).toEqual(['200', '400', '409', 'default']);
  const { paths } = documentOf(express().get('/', ok), { listOthers: true });
  expect(JSON.stringify(paths)).not.toContain('problem+json');
});
