import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { isPromise } from '../../basics/awaitable';
import { Problem } from '../../problems/problem';
import { warnOnce } from '../../warnings/warn-once';
import type { IdempotencyEvent, IdempotencyEventKind } from '../options/events';
import type { Outcome } from '../outcome';

/** Reports what happens to one request to `onEvent`. */
export class Reporter {
  /** Empty until the key has been read. */
  private key = '';
  /** Empty until the request has been identified. */
  private cacheKey = '';
  private readonly received = performance.now();

  constructor(
    private readonly onEvent: ((event: IdempotencyEvent, req: Request) => unknown) | undefined,
    private readonly req: IncomingMessage,
  ) {}

  /** Notes whose outcome it is: when the key has been read, and again when the request has been identified. */
  identified(key: string, cacheKey = ''): void {
    this.key = key;
    this.cacheKey = cacheKey;
  }

  report(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'executed':
      case 'not-stored':
      case 'forgotten':
        return this.emit(outcome.kind, outcome);
      case 'refused': {
        const { error, handlerMs, status = Problem.is(error) ? error.status : undefined } = outcome;
        return this.emit('refused', { status, handlerMs, error });
      }
      case 'abandoned':
        return this.emit('abandoned');
      case 'replayed':
        return this.emit(outcome.waited ? 'waited' : 'replayed', { status: outcome.response.status });
      case 'response-unavailable':
        return this.emit('unavailable', { status: 409 });
      case 'in-flight':
        return this.emit('conflicted', { status: 409 });
      case 'key-reused':
        return this.emit('reused', { status: 422 });
      case 'store-unavailable':
        return this.emit('store-failed', { status: 503, error: outcome.error });
      case 'unguarded':
        return this.emit('store-failed', { error: outcome.error });
    }
  }

  /** Reports that a request without a key is let through. */
  reportUnguarded(): void {
    this.emit('unguarded');
  }

  /** Reports that the lease of a running handler was lost; the outcome follows. */
  reportLostLease(): void {
    this.emit('lease-lost');
  }

  /** Calls `onEvent`. An observer that throws must not change the outcome of the request. */
  private emit(kind: IdempotencyEventKind, { status, handlerMs, error }: Details = {}): void {
    const { key, cacheKey, received, onEvent, req } = this;
    if (!onEvent) return;
    try {
      const event: IdempotencyEvent = {
        kind,
        key,
        cacheKey,
        startTime: performance.timeOrigin + received,
        durationMs: performance.now() - received,
        ...(handlerMs !== undefined && { handlerMs }),
        ...(status !== undefined && { status }),
        ...(error !== undefined && { error }),
      };
      const returned = onEvent(event, req as Request);
      if (isPromise(returned)) returned.catch(warn);
    } catch (thrown) {
      warn(thrown);
    }
  }
}

type Details = Partial<Pick<IdempotencyEvent, 'status' | 'handlerMs' | 'error'>>;

function warn(error: unknown): void {
  warnOnce(
    'BINDONCE_ON_EVENT',
    `idempotency: onEvent failed (${String(error)}), and the request is served all the same. Correct onEvent.`,
  );
}
