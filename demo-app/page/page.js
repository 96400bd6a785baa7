import { checkout } from './checkout.js';
import { Connection } from './connection.js';
import { byId } from './element.js';
import { OrderForm } from './form.js';
import { Orders } from './orders.js';
import { Requests } from './requests.js';
import { Timeline } from './timeline.js';
import { showTroubles, troublesOf } from './troubles.js';
import { forget, keep, unfinishedOf } from './unfinished.js';
import { capitalised, times } from './words.js';

/**
 * @typedef {import('./unfinished.js').Order} Order
 * @typedef {import('./troubles.js').Trouble} Trouble
 * @typedef {import('../messages').ShopEvent} ShopEvent
 */

const customer = new URLSearchParams(location.search).get('customer') || 'anna';
const requests = new Requests(() => timeline.draw());
const timeline = new Timeline(byId('timeline'), requests);
const orders = new Orders(byId('orders'), byId('total'));
const connection = new Connection(requests, say);
const send = checkout(connection.fetch);
const form = new OrderForm(customer, () => order());

/** How many calls wait for an answer. */
let calls = 0;
/** Is called once, when the shop takes the payment for a request of this page. @type {(() => void) | undefined} */
let midway;

/**
 * Sends the order that is under way, or else the one of the form.
 * @param {Partial<Trouble>} [trouble]
 */
async function order(trouble = {}) {
  const sent = unfinishedOf(customer) ?? form.newOrder();
  if (!sent) return;
  keep(sent);
  form.lock(sent);
  calls += 1;
  midway = trouble.midway;
  say('Sent. Waiting for the answer.');
  const answer = send(sent);
  trouble.atOnce?.();
  try {
    const response = await answer;
    forget(sent);
    if (!response.ok) say(`The shop answered ${response.status}: ${(await response.json()).detail ?? ''}`);
    else await tellResult(sent);
  } catch (error) {
    say(`There is no answer yet. Place the order again to go on with it. (${error})`);
  } finally {
    calls -= 1;
    if (calls === 0) form.unlock();
  }
}

/**
 * Says how often the shop has placed an order.
 * @param {Order} sent
 */
async function tellResult({ cart }) {
  await orders.load();
  const count = orders.countOf(cart);
  const sent = requests.countOf(cart);
  const requestsSent = sent === 1 ? '1 request' : `${sent} requests`;
  if (count === 1) say(`Placed once, with ${requestsSent}.`);
  else say(`Charged ${times(count)}: ${requestsSent}, ${count} orders.`, 'bad');
}

/**
 * @param {string} text
 * @param {'' | 'bad'} tone
 */
function say(text, tone = '') {
  Object.assign(byId('status'), { textContent: text, className: `status ${tone}` });
}

/** @param {ShopEvent} event */
function onEvent(event) {
  requests.happened(event);
  void orders.load();
  if (event.kind !== 'paying' || !connection.waitsFor(event.request)) return;
  const trouble = midway;
  midway = undefined;
  trouble?.();
}

const takesOver = 'If a process is killed, the other one takes its order over when its lease has expired.';

/** Where orders and stored responses are, and what that means. @type {Record<string, [string, string]>} */
const places = {
  Redis: ['Two processes on one Redis', takesOver],
  file: ['Two processes on one file', `${takesOver} A restart of the whole shop loses nothing, either.`],
  memory: [
    'One process, orders in its memory',
    'If the process is killed, its orders and its stored responses are lost together. Start the shop with REDIS_URL, or on Node 22.13 or later, to see them survive.',
  ],
};

/** @param {string} storage */
function onShop(storage) {
  const [title, note] = places[storage] ?? [storage, ''];
  byId('storage').textContent = title;
  byId('storage-note').textContent = note;
  timeline.ordersAre(storage === 'memory');
}

function follow() {
  const source = new EventSource('/demo/events');
  source.addEventListener('shop', ({ data }) => onShop(JSON.parse(data).storage));
  source.addEventListener('message', ({ data }) => onEvent(JSON.parse(data)));
  source.addEventListener('error', () => {
    byId('storage').textContent = 'Connecting to the shop…';
  });
}

const other = customer === 'ben' ? 'anna' : 'ben';
Object.assign(byId('other-tab'), {
  href: `?customer=${other}`,
  textContent: `Open another tab as ${capitalised(other)}`,
});
showTroubles(byId('troubles'), troublesOf({ again: () => void order(), connection }), trouble => void order(trouble));
const offline = /** @type {HTMLInputElement} */ (byId('offline'));
offline.addEventListener('change', () => connection.switchOffline(offline.checked));
void orders.load();
follow();
if (!isSecureContext) say('Open this page on localhost or over https: elsewhere, browsers cannot make keys.');
if (unfinishedOf(customer)) void order();
