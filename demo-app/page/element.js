/**
 * Makes an element. Strings become text, never HTML.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/**
 * Returns the element of index.html with an id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 */
export function byId(id) {
  return /** @type {T} */ (document.getElementById(id));
}
