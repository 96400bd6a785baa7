import { configure } from 'bindonce';
import { Histogram } from 'prom-client';

const seconds = new Histogram({ name: 'idempotency_seconds', help: 'From the receipt of a request until it may be answered', labelNames: ['outcome'] });

export const { idempotency } = configure({
  idempotency: { onEvent({ kind, durationMs }) { seconds.observe({ outcome: kind }, durationMs / 1_000); } },
});
