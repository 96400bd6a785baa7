export { bindRequest, configure, idempotency, type Configuration, type Configured } from './configure';

export type { IdempotencyMiddleware } from './idempotency/idempotency';
export type { IdempotencyOptions } from './idempotency/options';
export type { IdempotencyEvent, IdempotencyEventKind } from './idempotency/events';
export type { HeaderLine, RecordedResponse } from './idempotency/recorded-response';
export type { RequestIdempotency } from './idempotency/run';
export type {} from './idempotency/request';
export type { Acquisition, LeaseStore } from './idempotency/lease-store';
export { memoryLeases } from './idempotency/memory-leases';
export { redisLeases, type RedisClient, type RedisLeasesOptions } from './idempotency/redis-leases';

export { field, formField, fromBody, fromClaim, fromCookie, fromHeader, hasPermission, plainText, queryParam, routeParam, type Property } from './binding/declare';
export { dto, type InferShape, type Shape } from './binding/dto';
export type { BOUND, BindHandler, BoundLocals, BoundRequest } from './binding/bound';
export type { BindingOptions } from './binding/options';
export type { BindingLimits } from './binding/limits';
export type { UploadOptions } from './binding/uploads';
export type { PropertyOptions, Source } from './binding/property';
export type { AnyType, DtoClass, Infer, Parsable, ParseResult, PropertyType } from './binding/types/property-type';
export { bool, string } from './binding/types/scalar';
export { decimal, double, int, long } from './binding/types/numbers';
export { guid, uri, Version, version } from './binding/types/identifiers';
export { dateTime, timeSpan } from './binding/types/time';
export { enumOf } from './binding/types/enum';
export { file, type UploadedFile } from './binding/types/file';
export { list } from './binding/types/list';
export { nullable, optional } from './binding/types/wrappers';

export { Problem, type ProblemBody, type ProblemError, type ProblemLocation } from './problems/problem';
export type { ProblemCode } from './problems/catalogue';
export { problemDetails } from './problems/problem-details';
export type { OnProblem } from './problems/answer';
export type { Claims } from './principal/principal';
