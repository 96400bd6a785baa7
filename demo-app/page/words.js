const euros = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });

/** @param {number} amount */
export const money = amount => euros.format(amount);

/** @param {number} ms */
export const duration = ms => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** @param {number} ms since 1970 */
export const timeOfDay = ms => new Date(ms).toLocaleTimeString('en-GB');

/** @param {string} name */
export const capitalised = name => name.charAt(0).toUpperCase() + name.slice(1);

/** @param {string} id of a customer: a name, or a number, as in the lines for curl */
export const nameOf = id => (/^\d/.test(id) ? `Customer ${id}` : capitalised(id));

/** @param {number} count */
export const times = count => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`);

/** @param {string} id of which, if it is a UUID, the first digits are enough to tell it from others */
export const short = id => (/^[\da-f]{8}-/.test(id) ? id.slice(0, 8) : id);
