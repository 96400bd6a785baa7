import { element } from './element.js';

/**
 * What can go wrong with an order.
 * @typedef {object} Trouble
 * @property {string} name
 * @property {string} text
 * @property {() => void} [atOnce] is called right after the order was sent
 * @property {() => void} [midway] is called when the shop takes the payment
 */

/**
 * @param {{ again: () => void, connection: import('./connection.js').Connection }} page
 * @returns {Trouble[]}
 */
export const troublesOf = ({ again, connection }) => [
  { name: 'Click twice', text: 'Two requests at the same time.', atOnce: again },
  {
    name: 'Lose the connection',
    text: 'While the payment is taken. The page tries again.',
    midway: () => connection.cut(),
  },
  {
    name: 'Crash the server',
    text: 'Kills the process that takes the payment, before it is booked.',
    midway: () => void fetch('/demo/crash', { method: 'POST' }).catch(() => undefined),
  },
  { name: 'Reload the page', text: 'Before the answer is there.', midway: () => location.reload() },
];

/**
 * Adds a button for each to the list.
 * @param {HTMLElement} list
 * @param {Trouble[]} troubles
 * @param {(trouble: Trouble) => void} onChosen
 */
export function showTroubles(list, troubles, onChosen) {
  const items = troubles.map(trouble => {
    const words = [element('b', {}, trouble.name), ' ', element('span', {}, trouble.text)];
    const button = element('button', { type: 'button', className: 'choice' }, ...words);
    button.addEventListener('click', () => onChosen(trouble));
    return element('li', {}, button);
  });
  list.prepend(...items);
}
