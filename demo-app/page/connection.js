/** The connection of this page to the shop: a `fetch` that can be cut. */
export class Connection {
  #isOffline = false;
  /** The requests that wait for an answer. @type {Map<string, AbortController>} */
  #open = new Map();
  #requests;
  #say;

  /**
   * @param {import('./requests.js').Requests} requests
   * @param {(text: string) => void} say
   */
  constructor(requests, say) {
    this.#requests = requests;
    this.#say = say;
  }

  /**
   * Sends a request with an id, by which the page recognises it among the events of the shop.
   * @type {(url: string | URL | Request, init?: RequestInit) => Promise<Response>}
   */
  fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const path = new URL(String(url), location.href).pathname;
    const sent = { cart: headers.get('X-Cart') ?? '', path, key: headers.get('Idempotency-Key') ?? '' };
    if (this.#isOffline || !navigator.onLine) {
      this.#say('Offline. The page tries again until there is an answer.');
      this.#requests.notSent(sent);
      throw new TypeError('The page is offline');
    }
    const request = crypto.randomUUID();
    headers.set('X-Request-Id', request);
    const cut = new AbortController();
    this.#open.set(request, cut);
    this.#requests.sent(request, sent);
    try {
      const signal = init.signal ? AbortSignal.any([init.signal, cut.signal]) : cut.signal;
      const response = await fetch(url, { ...init, headers, signal });
      this.#requests.ended(request, 'answered');
      return response;
    } catch (error) {
      this.#say('The connection was lost. The page tries again.');
      this.#requests.ended(request, 'lost');
      throw error;
    } finally {
      this.#open.delete(request);
    }
  };

  /**
   * Tells whether this page waits for the answer to a request.
   * @param {string} request
   */
  waitsFor(request) {
    return this.#open.has(request);
  }

  /** Cuts the connections on which the page waits. The shop goes on. */
  cut() {
    for (const open of this.#open.values()) open.abort(new TypeError('The connection was lost'));
  }

  /** @param {boolean} isOffline */
  switchOffline(isOffline) {
    this.#isOffline = isOffline;
    if (isOffline) this.cut();
  }
}
