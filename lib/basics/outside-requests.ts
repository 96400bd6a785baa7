import { AsyncResource } from 'node:async_hooks';

/** Keeps no process alive, and says so: otherwise, `jest --detectOpenHandles` reports it. */
class Idle extends AsyncResource {
  hasRef(): boolean {
    return false;
  }
}

/** Has the asynchronous context in which this module was loaded: no request's. */
const atLoad = new Idle('bindonce');

/**
 * Makes something that outlives a request, such as a timer or a connection. Node keeps with it the asynchronous context
 * in which it is made: the AsyncLocalStorage of a request, in which other libraries keep the whole request.
 */
export function outsideRequests<T>(make: () => T): T {
  return atLoad.runInAsyncScope(make);
}
