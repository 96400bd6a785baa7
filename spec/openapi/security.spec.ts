import express from 'express';
import { bindRequest, dto, fromClaim, hasPermission, int, openapi, optional, string } from '../../lib';
import type { AnyType, BindingOptions, OpenApiOptions } from '../../lib';
import { documentOf, info, type Operation } from '../support/described';

const bearer = { type: 'http', scheme: 'bearer' };
const key = { type: 'apiKey', in: 'header', name: 'X-Api-Key' };
const securitySchemes = { bearer, key };

const Anyone = dto({ a: optional(int) });
const Someone = dto({ sub: fromClaim(string) });
const Reader = dto({ may: hasPermission('x', { required: false }) });

const appOf = (Dto: AnyType, options: BindingOptions = {}): express.Express =>
  express().get('/', bindRequest(Dto, options));

describe('how callers authenticate', () => {
  const all: Partial<OpenApiOptions> = { securitySchemes, security: [{ bearer: [] }, { key: [] }] };
  const optionally: Partial<OpenApiOptions> = { securitySchemes, security: [{}, { bearer: [] }] };
  const refuses: BindingOptions = { allowAnonymous: false };
  const allows: BindingOptions = { allowAnonymous: true };

  const [caller, bearerOrKey] = [[{ caller: [] }], ['bearer', 'key']];
  const write = [{ bearer: ['write'], key: [] }];

  it.each<[string, AnyType, BindingOptions, Partial<OpenApiOptions>, operation: unknown, schemes: string[]]>([
    ['no endpoint asks', Anyone, {}, {}, undefined, []],
    ['a caller is refused', Anyone, refuses, {}, caller, ['caller']],
    ['a claim is required, whatever is allowed', Someone, allows, {}, caller, ['caller']],
    ['a permission may be missing', Reader, {}, {}, [{}, ...caller], ['caller']],
    ['anonymous callers are allowed', Anyone, allows, {}, [], []],
    ['there is one scheme', Anyone, refuses, { securitySchemes: { key } }, [{ key: [] }], ['key']],
    ['the scheme has no name', Anyone, refuses, { securityScheme: key }, caller, ['caller']],
    ['the document says it for all', Anyone, {}, all, undefined, bearerOrKey],
    ['the document says it for callers, too', Anyone, refuses, all, undefined, bearerOrKey],
    ['the document says it, but not for anyone', Anyone, allows, all, [], bearerOrKey],
    [
      'it says so, and anyone may have a permission',
      Reader,
      allows,
      all,
      [{}, { bearer: [] }, { key: [] }],
      bearerOrKey,
    ],
    ['the document lets anyone in, the endpoint does not', Someone, {}, optionally, [{ bearer: [] }], bearerOrKey],
    ['the endpoint says it', Someone, { openapi: { security: write } }, all, write, bearerOrKey],
    ['the endpoint says: not at all', Someone, { openapi: { security: [] } }, all, [], bearerOrKey],
  ])('if %s', (_what, Dto, options, given, operation, schemes) => {
    const document = documentOf(appOf(Dto, options), given);
    // A page would offer an empty dialog for an empty list.
    const { securitySchemes: listed = {} } = document['components'] as { securitySchemes?: object };
    expect((document.paths['/']?.['get'] as Operation).security).toEqual(operation);
    expect([document['security'], Object.keys(listed)]).toEqual([given.security, schemes]);
  });

  it.each<[string, BindingOptions, Partial<OpenApiOptions>, string]>([
    [
      'a name in the document that is not defined',
      {},
      { securitySchemes, security: [{ oauth: [] }] },
      'openapi: `security` names the scheme "oauth", which is not defined; there are: bearer, key.',
    ],
    [
      'a name in an endpoint that is not defined',
      { openapi: { security: [{ Bearer: [] }] } },
      { securitySchemes },
      'openapi: GET /: `security` names the scheme "Bearer", which is not defined; there are: bearer, key.',
    ],
    [
      'a name of all objects that is not defined',
      { openapi: { security: [{ toString: [] }] } },
      {},
      'openapi: GET /: `security` names the scheme "toString", which is not defined; there are: caller.',
    ],
    [
      'a name that no component can have',
      {},
      { securitySchemes: { 'a b': bearer } },
      'openapi: securitySchemes must be an object of security schemes, by names of letters, digits, ".", "_" and "-"',
    ],
    [
      'requirements that are not in an array',
      {},
      { security: { bearer: [] } as never },
      'openapi: security must be an array of objects that name schemes and their scopes, for example [{ bearer: [] }], not an object',
    ],
  ])('%s is an error', (_what, options, given, message) => {
    expect(() => openapi(appOf(Anyone, options), { info, ...given })).toThrow(message);
  });

  it('is checked when the endpoint is made, as far as it is known there', () => {
    expect(() => bindRequest(Anyone, { openapi: { security: [{ bearer: true }] as never } })).toThrow(
      'bindRequest: openapi: security must be an array of objects that name schemes and their scopes',
    );
  });
});
