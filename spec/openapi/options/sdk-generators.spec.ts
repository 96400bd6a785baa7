import express from 'express';
import {
  bindRequest,
  dto,
  fromHeader,
  idempotency,
  int,
  openapi,
  string,
  type AnyType,
  type BindingOptions,
  type IdempotencyOptions,
  type OpenApiDocument,
  type OpenApiOptions,
} from '../../../lib';
import { documentOf, info, type Operation } from '../../support/described';

const sdkGenerators = ['fern', 'speakeasy'] as const;

const appOf = (
  guard?: IdempotencyOptions,
  options: BindingOptions = {},
  Dto: AnyType = dto({ a: int }),
): express.Express => express().post('/', ...(guard ? [idempotency(guard)] : []), bindRequest(Dto, options));

const operationIn = ({ paths }: OpenApiDocument): Operation => paths['/']?.['post'] as Operation;

const extensionsOf = (one: object): string[] => Object.keys(one).filter(name => /^x-(fern|speakeasy)/.test(name));

interface Retries {
  readonly backoff: { readonly maxInterval: number; readonly maxElapsedTime: number };
  readonly statusCodes: readonly string[];
}

function retriesOf(guard: IdempotencyOptions, options: BindingOptions = {}): Retries | undefined {
  const operation = operationIn(documentOf(appOf(guard, options), { sdkGenerators: ['speakeasy'] }));
  return operation['x-speakeasy-retries'] as Retries | undefined;
}

describe('extensions for generators', () => {
  it.each<[string, Partial<OpenApiOptions>, IdempotencyOptions | undefined, string[], string[]]>([
    ['none by default', {}, {}, [], []],
    ['none without idempotency()', { sdkGenerators }, undefined, [], []],
    ['of Fern', { sdkGenerators: ['fern'] }, {}, ['x-fern-idempotency-headers'], ['x-fern-idempotent']],
    ['of Speakeasy', { sdkGenerators: ['speakeasy'] }, {}, [], ['x-speakeasy-retries']],
  ])('%s', (_what, given, guard, atTop, inOperation) => {
    const document = documentOf(appOf(guard), given);
    expect([extensionsOf(document), extensionsOf(operationIn(document))]).toEqual([atTop, inOperation]);
  });

  it('refuses a generator that it does not know', () => {
    expect(() => openapi(express(), { info, sdkGenerators: ['stainless' as never] })).toThrow(
      "openapi: sdkGenerators must be an array of 'fern' and 'speakeasy', not an array",
    );
  });
});

describe('for Fern', () => {
  it('each header of a key is listed once, with a name, and is no parameter of its own', () => {
    const app = appOf({ headerName: 'X-Idempotency-Key' });
    app.put('/', idempotency({ headerName: 'x-idempotency-key' }), (_req, res) => void res.end());
    app.patch('/', idempotency(), (_req, res) => void res.end());
    const document = documentOf(app, { sdkGenerators });
    expect(document['x-fern-idempotency-headers']).toEqual([
      { header: 'x-idempotency-key', name: 'x_idempotency_key' },
      { header: 'Idempotency-Key', name: 'idempotency_key' },
    ]);
    expect(operationIn(document)).toMatchObject({
      'x-fern-idempotent': true,
      parameters: [{ name: 'X-Idempotency-Key', 'x-fern-ignore': true }],
    });
  });

  it('so is a header that the dto has, too', () => {
    const Dto = dto({ key: fromHeader(string, { name: 'idempotency-key' }) });
    const { parameters } = operationIn(documentOf(appOf({}, {}, Dto), { sdkGenerators }));
    expect(parameters).toMatchObject([{ name: 'idempotency-key', 'x-fern-ignore': true }]);
  });
});

describe('for Speakeasy', () => {
  it('temporary answers and lost connections are retried', () => {
    expect(retriesOf({})).toEqual({
      strategy: 'backoff',
      backoff: { initialInterval: 500, maxInterval: 10_000, maxElapsedTime: 60_000, exponent: 1.5 },
      statusCodes: ['409', '429', '502', '503', '504'],
      retryConnectionErrors: true,
    });
  });

  it.each<[string, IdempotencyOptions]>([
    ['a request without a key runs', { whenKeyMissing: 'run' }],
    ['a request runs without the store', { whenStoreFails: 'run' }],
  ])('nothing is retried where %s', (_what, guard) => {
    expect(retriesOf(guard)).toBeUndefined();
  });

  it.each([1, 7, 1_000, 60_000, 600_000])('the last retry begins before a response of %i ms expires', cacheDuration => {
    const { maxInterval = NaN, maxElapsedTime = NaN } = retriesOf({ cacheDuration })?.backoff ?? {};
    expect(maxElapsedTime + maxInterval).toBeLessThan(cacheDuration);
  });

  it('retries outlast the lease of a process that has died', () => {
    const leaseDuration = 120_000;
    expect(retriesOf({ leaseDuration })?.backoff.maxElapsedTime).toBeGreaterThan(leaseDuration);
  });

  it('a 409 of the handler is not retried', () => {
    expect(retriesOf({}, { responses: { 409: dto({ a: int }) } })?.statusCodes).toEqual(['429', '502', '503', '504']);
  });
});
