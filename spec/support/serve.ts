import type { RequestListener } from 'node:http';
import { listen, type Listening } from './listen';

const open: Listening[] = [];
const used = new Set<number>();

/**
 * Serves an application until the spec is over, on a port that no other spec has used: the port is part of a request's
 * identity, and the default store belongs to the process.
 */
export async function serve(app: RequestListener): Promise<Listening> {
  const listening = await listen(app);
  open.push(listening);
  if (used.has(listening.port)) return serve(app);
  used.add(listening.port);
  return listening;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(listening => listening.close()));
});
