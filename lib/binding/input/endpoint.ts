import type { Request } from 'express';
import type { Claims } from '../../principal/principal';
import type { BindingFailure } from '../reading/failures';
import type { ResolvedLimits } from '../reading/limits';
import type { ResponseTypes, SerializerOptions } from '../types/serializer-options';
import type { ValueParser } from '../types/value-parser';
import type { Plan } from '../plan/plan';
import type { SourceDefaults } from '../plan/source-properties';
import type { AnyType } from '../types/property-type';
import type { ReadUpload } from './uploads';

/** What binding a request needs to know about its endpoint. */
export interface Endpoint {
  readonly Dto: AnyType;
  readonly options: ResolvedOptions;
  /** Undefined if the application's own binder makes the dto, from a class without declarations. */
  readonly plan: Plan | undefined;
}

/** How one endpoint reads requests and writes responses: its options, with all defaults filled in. */
export interface ResolvedOptions extends SourceDefaults {
  readonly allowMultipart: boolean;
  readonly allowUrlEncoded: boolean;
  readonly allowAnonymous: boolean;
  /** In lower case. */
  readonly jsonTypes: readonly string[];
  readonly claims: (req: Request) => Claims | undefined;
  readonly permissions: (req: Request) => Iterable<string>;
  readonly valueParsers: readonly ValueParser[];
  readonly serializer: Readonly<Required<SerializerOptions>>;
  readonly responses: ResponseTypes;
  /** True if a dto in a response is written by its own declaration, because there is a naming policy or a converter. */
  readonly writesInstances: boolean;
  readonly failureMessage: ((failure: BindingFailure, req: Request) => string | undefined) | undefined;
  readonly quoteValues: boolean;
  readonly limits: ResolvedLimits;
  readonly readUpload: ReadUpload;
  /** The most bytes that a multipart form may have. */
  readonly formBytes: number;
}
