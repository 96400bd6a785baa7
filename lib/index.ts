import BigNumber = require('bignumber.js');

export { bindRequest, configure, idempotency, type Configuration, type Configured } from './configure';
export { cookieValue, headerValue, queryValue, routeValue } from './configure';

export { apiDocs } from './openapi/api-docs';
export { openapi, type OpenApiDocument } from './openapi/openapi';
export type { OpenApiOptions } from './openapi/openapi-options';
export type { OperationOptions, SecurityRequirement } from './binding/options';

export type { IdempotencyMiddleware } from './idempotency/idempotency';
export type { KeyRecord, Keys, KeysQuery } from './idempotency/operate/keys';
export { operate, type OperateOptions } from './idempotency/operate/operate';
export type { IdempotencyOptions } from './idempotency/options/options';
export type { IdempotencyEvent, IdempotencyEventKind, TelemetryMeter } from './idempotency/options/events';
export type { HeaderLine, RecordedResponse } from './idempotency/responses/recorded-response';
export type { KeyvLike } from './idempotency/stores/keyv-like';
export type { RequestIdempotency } from './idempotency/run/request-idempotency';
export type { Acquisition, LeaseStore } from './idempotency/leases/lease-store';
export type { RunFacts, RunPage, RunQuery, RunRecord } from './idempotency/leases/runs';
export { memoryLeases, type MemoryLeasesOptions } from './idempotency/leases/memory-leases';
export { fromDrizzle, fromKnex, fromKysely, fromPg } from './idempotency/stores/transactions';
export { fromPostgresJs, fromPrisma, fromTypeOrm, type TransactionAdapter } from './idempotency/stores/transactions';
export type { Store } from './idempotency/stores/store';
export { sqliteStore, type SqliteDatabase, type SqliteStore } from './idempotency/stores/sqlite/store';
export { postgresLeases, postgresStore } from './idempotency/stores/postgres/store';
export type { PostgresPool, PostgresStore, PostgresStoreOptions } from './idempotency/stores/postgres/store';
export { redisLeases, type RedisLeasesOptions } from './idempotency/stores/redis/leases';
export type { RedisClient } from './idempotency/stores/redis/client';

export { field, formField, jsonField, queryParam, routeParam, type Property } from './binding/declaration/declare';
export { fromBody, fromForm, fromQuery, plainText } from './binding/declaration/declare';
export { fromClaim, fromCookie, fromHeader, hasPermission } from './binding/declaration/declare';
export { dto, type InferShape, type Shape } from './binding/declaration/declare';
export { BOUND, type BindHandler, type BoundLocals, type BoundRequest } from './binding/express-types';
export type { Binder, BinderContext, Modifier } from './binding/input/binder-context';
export type { BindingFailure, FailureCode } from './binding/reading/failures';
export type { BindingOptions } from './binding/options';
export { RequestBinder } from './binding/bind-request';
export { generatedContexts, serializerContext } from './binding/responses/json';
export type { RegisterContexts, SerializerContext } from './binding/responses/json';
export type { GeneratedContexts, NamingPolicy, NamingPolicyName } from './binding/types/serializer';
export type { ResponseTypes, SerializerOptions, SerializerTypes } from './binding/types/serializer';
export { omit, oneOf, partial, pick, type OneOf } from './binding/declaration/shapes';
export type { Fail } from './binding/types/codec';
export { valueParserFor, type JsonConverter, type ValueParser } from './binding/types/serializer';
export type { ReadValue, ValueOptions, ValueReaders } from './binding/single-value';
export type { BindingLimits } from './binding/reading/limits';
export type { UploadOptions } from './binding/input/uploads';
export type { PropertyOptions } from './binding/declaration/property';
export type { AnyClass, AnyType, DtoClass, Infer, PropertyType, ValueType } from './binding/types/property-type';
export type { Parsable, ParseResult } from './binding/types/property-type';
export { bool, enumOf, guid, string, uri, Version, version } from './binding/types/scalar';
export type { BoolRules, StringRules } from './binding/types/scalar';
export { decimal, double, int, long, type NumberRules } from './binding/types/numbers';
/** The value of a `decimal` (bignumber.js). */
export { BigNumber };
export { date, dateTime, time, timeSpan, type DateRules } from './binding/types/time';
export { file, lazy, list, nullable, optional, record } from './binding/types/wrappers';
export type { FileRules, ListRules, UploadedFile } from './binding/types/wrappers';
export type { CommonRules, RuledType } from './binding/types/rules';

export { Problem, type ProblemBody, type ProblemError, type ProblemLocation, type Source } from './problems/problem';
export type { ProblemCode } from './problems/catalogue';
export { problemDetails } from './problems/problem-details';
export type { OnProblem } from './problems/answer';
export type { Claims } from './principal/principal';
